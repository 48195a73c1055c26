package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// compare compares keys as o.Compare does. A Suffix says that o is that of internal keys with bytewise
// user keys. The iterators compare keys at each move: these need no indirect call.
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
