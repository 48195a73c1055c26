package table

import (
	"math/rand/v2"
	"sync/atomic"
)

// refusals are the data blocks that a full Cache has refused of late. To take each block that is
// read would cost more than most of them save: it is decoded and copied, and evicts another. So
// a full Cache takes a block when it is read a second time, before half as many others are as
// the Cache can hold. A scan then evicts nothing.
//
// There is a mark for each 16 KiB of the Cache. A block has a row of marks, of which it takes one at
// random, so that no two blocks can displace each other again and again.
type refusals struct{ rows [][8]atomic.Uint32 }

// newRefusals returns refusals for a Cache of that many bytes.
func newRefusals(budget int64) *refusals {
	n := 2
	for int64(n) < budget>>17 && n < 1<<20 {
		n <<= 1
	}
	return &refusals{make([][8]atomic.Uint32, n)}
}

// again reports whether the block was refused of late. If it was not, it is from now on.
func (r *refusals) again(file uint64, block int) bool {
	hash := (file<<32 + uint64(block) + 1) * 0x9e3779b97f4a7c15 // 2⁶⁴ ÷ the golden ratio
	hash ^= hash >> 32
	hash *= 0x9e3779b97f4a7c15
	mark := uint32(hash) | 1 // 0 is none
	row := &r.rows[hash>>32&uint64(len(r.rows)-1)]
	for i := range row {
		if row[i].Load() == mark {
			return true
		}
	}
	row[rand.Uint32N(uint32(len(row)))].Store(mark)
	return false
}

// admits reports whether data block i, which is read now, should be added to the Cache.
func (t *openTable) admits(i int) bool {
	if t.cachedBlocks == nil {
		return false
	}
	refused := t.o.Cache.refused.Load()
	return refused == nil || refused.again(t.cachedFile.number, i)
}
