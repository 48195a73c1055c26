package cli

import (
	"math"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A BytesFlag is the value of a flag, with escapes. nil means that the flag is not given.
type BytesFlag []byte

func (b *BytesFlag) String() string { return text.Escape(*b) }
func (b *BytesFlag) Type() string   { return "key" }

func (b *BytesFlag) Set(s string) error {
	v, err := text.Unescape(s)
	*b = append([]byte{}, v...)
	return err
}

// ParseSize parses the number of bytes, < 2⁶³, that is the value of a flag, such as 64KiB. The
// error says what is wanted.
func ParseSize(flag, s, want string) (int64, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > math.MaxInt64 {
		return 0, UsageErrorf("%s is %s, want %s", flag, wire.Quote([]byte(s)), want)
	}
	return int64(n), nil
}
