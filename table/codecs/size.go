package codecs

import (
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
)

// maxBlock is the largest decoded size of a block: the most that a Writer writes.
const maxBlock = 1 << 30

// A TooLargeError is the error of Decode for an intact block of more than limit bytes. A Reader with a MaxBlockSize
// >= Size reads it. For a Snappy block, Size is the size that it claims, if that is possible for its length; it is
// not decoded. Blocks of more than 1 GiB are corrupt.
type TooLargeError struct {
	Size  int // decoded size in bytes, <= 1 GiB
	Limit int // limit of Decode
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("decodes to %d bytes, more than the limit of %d", e.Size, e.Limit)
}

// tooLarge decodes the rest of a block to find its size. A block of > maxBlock bytes is
// corrupt.
func tooLarge(rest io.Reader, have, limit int) error {
	n, err := io.Copy(io.Discard, io.LimitReader(rest, maxBlock-int64(have)+1))
	size := int64(have) + n
	switch {
	case err != nil:
		return err
	case size > maxBlock:
		return fmt.Errorf("decodes to more than %d bytes", max(limit, maxBlock))
	}
	return &TooLargeError{int(size), limit}
}

// snappy returns a TooLargeError for blocks with a size > limit.
type snappy struct{ table.Codec }

// maxSnappyRatio bounds the decoded size of a Snappy block: its best element is a copy of
// 64 bytes, which takes 3 bytes.
const maxSnappyRatio = 22

func (s snappy) Decode(dst, src []byte, limit int) ([]byte, error) {
	size, n := format.Uvarint(src)
	if n > 0 && size > uint64(limit) && size <= maxBlock && size <= maxSnappyRatio*uint64(len(src)) {
		return nil, fmt.Errorf("snappy: %w", &TooLargeError{int(size), limit})
	}
	return s.Codec.Decode(dst, src, limit)
}
