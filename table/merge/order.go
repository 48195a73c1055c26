package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// compare is like o.Compare but makes no indirect call for the common orders, since iterators compare keys at each
// move. A Suffix means internal keys whose user keys are in bytewise order.
func compare(o *rowblock.Order, a, b []byte) int {
	const trailer = format.InternalTrailerLen
	switch {
	case o.Func == nil:
		return bytes.Compare(a, b)
	case o.Suffix != trailer || len(a) < trailer || len(b) < trailer:
		return o.Func(a, b)
	}
	userA, userB := a[:len(a)-trailer], b[:len(b)-trailer]
	if c := bytes.Compare(userA, userB); c != 0 {
		return c
	}
	return cmp.Compare(binary.LittleEndian.Uint64(b[len(userB):]), binary.LittleEndian.Uint64(a[len(userA):]))
}
