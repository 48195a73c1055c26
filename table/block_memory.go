package table

import (
	"context"
	"math"
	"sync"

	"github.com/sievetable/sievetable/internal/decoded"
)

// A blockMemory is what an Iter needs to read and decode blocks. An Iter takes it from the pool
// when it reads its first block, and Close gives it back. So an Iter that finds all in the Cache
// needs none.
type blockMemory struct {
	buffers buffers
	entries decoded.Block // the decoded block
	seekKey []byte        // a copy of the key to seek, which may be in the buffers
}

var blockMemoryPool = sync.Pool{New: func() any { return new(blockMemory) }}

// takeBlockMemory returns memory for an Iter, whose reads ctx ends, and which reads so many
// bytes ahead.
func takeBlockMemory(ctx context.Context, readAhead int) *blockMemory {
	m := blockMemoryPool.Get().(*blockMemory)
	m.buffers.ctx, m.buffers.ahead.size = ctx, readAhead
	return m
}

// put gives the memory back to the pool.
func (m *blockMemory) put() {
	m.empty()
	blockMemoryPool.Put(m)
}

// empty removes what need not stay in memory: what a huge block needed.
func (m *blockMemory) empty() {
	if m.entries.Size() > maxPooledBlock || m.buffers.isLarge() {
		m.entries = decoded.Block{} // it also refers to the buffers
	}
	if cap(m.seekKey) > maxPooledBlock {
		m.seekKey = nil
	}
	ahead := m.buffers.ahead.bytes[:0]
	if m.buffers.empty(); cap(ahead) <= maxPooledBlock {
		m.buffers.ahead.bytes = ahead
	}
}

// A budget bounds the memory that one operation takes for keys and messages: fixed bytes,
// and perByte bytes for each byte of the file.
//
// The blocks themselves, stored and decompressed, take at most 1 + maxSnappyGain times
// their size in the file, since extend allocates no more than is needed. A decoded.Block takes
// at most 3 MiB, with what it has outgrown. All together is < 64 MiB plus 32 times the size of
// the file.
type budget struct{ fixed, perByte uint64 }

// A key that shares bytes with the key before has to be rebuilt in memory. It can be as
// long as its block, decompressed.
var (
	dataKeyBudget      = budget{55 << 20, 3} // of an Iter, a lookup or Verify
	indexKeyBudget     = budget{1 << 20, 1}
	separatorBudget    = budget{1 << 20, 1} // of the index, if its separators share bytes
	metaindexKeyBudget = budget{1 << 20, 1}
	propertiesBudget   = budget{1 << 20, 1} // of names and values
	exceptionsBudget   = budget{4 << 20, 1} // of the keys in the exceptions block
	findingsBudget     = budget{1 << 18, 1} // of Verify's findings; and again of denied keys
)

// compareBudget returns how many bytes of keys may be compared in a block of that length,
// decompressed, in an order that has to see whole keys. Each key is compared with the key
// before. The keys of a block by block.Writer are together at most 257 times as long as
// the block. So are those of other engines, unless hundreds of long keys follow a restart
// point.
func compareBudget(length int) int64 { return 64<<10 + 1024*int64(length) }

// forFile returns the budget for a file of size bytes.
func (b budget) forFile(size uint64) int {
	return int(min(b.fixed+b.perByte*min(size, math.MaxInt64/8), math.MaxInt))
}

// extend returns b with capacity for n more bytes. Unlike append, it allocates no more
// than that.
func extend(b []byte, n int) []byte {
	if n <= cap(b)-len(b) {
		return b
	}
	return append(make([]byte, 0, len(b)+n), b...)
}
