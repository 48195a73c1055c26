package table

import (
	"context"
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

// put gives the memory back to the pool, without what a huge block needed.
func (m *blockMemory) put() {
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
	blockMemoryPool.Put(m)
}
