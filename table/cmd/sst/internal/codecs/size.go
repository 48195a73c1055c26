package codecs

import (
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// MaxBlock is the most that a block of a table decodes to.
const MaxBlock = 1 << 30

// A TooLargeError says that a block is right, as far as that was looked at, and decodes to
// more than was asked for.
type TooLargeError struct{ Size, Limit int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("decodes to %d bytes, want at most %d", e.Size, e.Limit)
}

// tooLarge decodes the rest of a block, to find out how large it is. It is damaged if there
// is no end up to MaxBlock.
func tooLarge(rest io.Reader, have, limit int) error {
	n, err := io.Copy(io.Discard, io.LimitReader(rest, MaxBlock-int64(have)+1))
	size := int64(have) + n
	switch {
	case err != nil:
		return err
	case size > MaxBlock:
		return fmt.Errorf("decodes to > %d bytes", max(limit, MaxBlock))
	}
	return &TooLargeError{int(size), limit}
}

// snappy says of a block how large it is, where that is over the limit.
type snappy struct{ table.Codec }

// maxSnappyRatio is how many times its length a block decodes to at most: a copy of 64 bytes
// takes 3.
const maxSnappyRatio = 22

func (s snappy) Decode(dst, src []byte, limit int) ([]byte, error) {
	size, n := wire.Uvarint(src)
	if n > 0 && size > uint64(limit) && size <= MaxBlock && size <= maxSnappyRatio*uint64(len(src)) {
		return nil, fmt.Errorf("snappy: %w", &TooLargeError{int(size), limit})
	}
	return s.Codec.Decode(dst, src, limit)
}
