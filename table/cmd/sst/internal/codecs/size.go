package codecs

import (
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// MaxBlock is the largest decoded size of a block.
const MaxBlock = 1 << 30

// A TooLargeError is the error for a block that decodes correctly, but to more than limit
// bytes.
type TooLargeError struct{ Size, Limit int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("decodes to %d bytes, want at most %d", e.Size, e.Limit)
}

// tooLarge decodes the rest of a block to find its size. A block of > MaxBlock bytes is
// damaged.
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

// snappy returns a TooLargeError for blocks with a size > limit.
type snappy struct{ table.Codec }

// maxSnappyRatio bounds the decoded size of a Snappy block: its best element is a copy of
// 64 bytes, which takes 3 bytes.
const maxSnappyRatio = 22

func (s snappy) Decode(dst, src []byte, limit int) ([]byte, error) {
	size, n := wire.Uvarint(src)
	if n > 0 && size > uint64(limit) && size <= MaxBlock && size <= maxSnappyRatio*uint64(len(src)) {
		return nil, fmt.Errorf("snappy: %w", &TooLargeError{int(size), limit})
	}
	return s.Codec.Decode(dst, src, limit)
}
