package goleveldb

import (
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/sievetable/sievetable/table"
)

// A fastSnappy is table.Snappy with an encoder that takes about two thirds of the time. Its output has other bytes,
// and differs in length by a few percent.
type fastSnappy struct{ table.Codec }

// Encode compresses src and appends the result to dst.
func (fastSnappy) Encode(dst, src []byte) []byte {
	dst = slices.Grow(dst, s2.MaxEncodedLen(len(src)))
	return dst[:len(dst)+len(s2.EncodeSnappy(dst[len(dst):cap(dst)], src))]
}
