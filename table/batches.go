package table

import (
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/filter"
)

// Bytes of blocks that are encoded in one go: few at first, so that a small table
// has enough batches for all, and then enough for the passing on not to count.
const (
	firstBatch = 16 << 10
	batchSize  = 128 << 10
	mostKept   = 4 * batchSize // of memory, for another batch: no huge value's or keys'
)

// batches are data blocks on their way from being built to being written, when
// several goroutines encode them. They are written in the order in which they
// were built, when that many more are under way: so that what the Writer does, and
// tells by Size, does not depend on who was faster.
type batches struct {
	codec   Codec
	filling *batch        // takes the next block
	last    *batch        // has the last one that is complete, or is nil
	queue   []*batch      // under way, the oldest first
	queued  int           // bytes that these took before they were encoded
	most    int           // how many may be under way,
	room    int           // and about how many bytes
	size    int           // bytes that fill the next one
	free    []*batch      // to be used again
	working chan struct{} // has room for as many goroutines as may encode beside the caller's

	running sync.WaitGroup // the goroutines
}

// batch is some data blocks, one behind the other.
type batch struct {
	raw     []byte
	blocks  []batchedBlock
	size    int    // bytes, from when they are complete
	held    []byte // what the filter wants of their keys
	heldEnd []int  // where that of each key ends

	// The blocks' separators. That of the last one is set while others encode.
	separators    []byte
	separatorEnds []int

	ready  atomic.Bool // to be encoded, by who clears this
	run    func()      // encodes it when there is room, if nobody has
	owner  *batches
	done   sync.WaitGroup
	stored []byte // the result
	ends   []int  // where each block ends in it
	failed any    // the codec's panic

	encoded atomic.Bool // before done: there is no need to wait

	encoder encoder
}

// batchedBlock is where one block ends in a batch's raw and heldEnd.
type batchedBlock struct{ raw, keys int }

func newBatches(concurrency, blockSize int, codec Codec) *batches {
	most := 2 * concurrency
	q := &batches{codec: codec, most: most, room: 2 * most * max(batchSize, blockSize), size: firstBatch, working: make(chan struct{}, concurrency-1)}
	q.filling = q.newBatch()
	return q
}

// batchPool has the batches of Writers that are closed, empty.
var batchPool = sync.Pool{New: func() any {
	b := new(batch)
	b.run = func() {
		q := b.owner
		defer q.running.Done()
		q.working <- struct{}{}
		defer func() { <-q.working }()
		b.encode()
	}
	return b
}}

func (q *batches) newBatch() *batch {
	b := batchPool.Get().(*batch)
	b.owner, b.encoder.codec = q, q.codec
	return b
}

// close gives the batches, all of which were released, to other Writers. None is
// still looked at by a goroutine then.
func (q *batches) close() {
	q.running.Wait()
	for _, b := range append(q.free, q.filling) {
		b.owner, b.encoder.codec = nil, nil
		batchPool.Put(b)
	}
	q.free, q.filling = nil, nil
}

// raw returns what the next block is to be built behind.
func (q *batches) raw() []byte { return q.filling.raw }

// hold keeps what f wants of a key of the block that is being built.
func (q *batches) hold(f *filter.BlockWriter, key []byte) {
	b := q.filling
	b.held = f.AppendHash(b.held, key)
	b.heldEnd = append(b.heldEnd, len(b.held))
}

// add adds a block that was built behind what raw returned.
func (q *batches) add(raw []byte) {
	b := q.filling
	b.raw = raw
	b.blocks = append(b.blocks, batchedBlock{raw: len(raw), keys: len(b.heldEnd)})
	q.last = b
	if b.bytes() >= q.size {
		q.size = min(2*q.size, batchSize)
		q.start()
	}
}

// bytes is what blocks and keys take until they are encoded.
func (b *batch) bytes() int { return len(b.raw) + len(b.held) }

// due returns the batch that it is time to write, or nil: so that what is under way
// is bounded, both in batches, and in bytes where blocks are large or keys long.
// The last batch stays, whose last separator is still to come.
func (q *batches) due() *batch {
	if len(q.queue) > q.most || len(q.queue) > 1 && q.queued > q.room {
		return q.next()
	}
	return nil
}

// setSeparator gives the last block its separator.
func (q *batches) setSeparator(s []byte) {
	b := q.last
	b.separators = append(b.separators, s...)
	b.separatorEnds = append(b.separatorEnds, len(b.separators))
}

// start has the batch that was filled encoded.
func (q *batches) start() {
	b := q.filling
	b.size = b.bytes()
	q.queue = append(q.queue, b)
	q.queued += b.size
	b.done.Add(1)
	b.encoded.Store(false)
	b.ready.Store(true)
	q.running.Add(1)
	go b.run()
	if n := len(q.free); n > 0 {
		q.filling, q.free = q.free[n-1], q.free[:n-1]
	} else {
		q.filling = q.newBatch()
	}
}

// next returns the oldest batch, encoded. Until it is, this goroutine encodes what
// nobody else has begun to.
func (q *batches) next() *batch {
	b := q.queue[0]
	q.queued -= b.size
	for i := 0; i < len(q.queue) && !b.encoded.Load(); i++ {
		q.queue[i].encode()
	}
	q.queue = append(q.queue[:0], q.queue[1:]...)
	b.done.Wait()
	if b.failed != nil {
		panic(b.failed)
	}
	return b
}

// release takes a batch back that was written.
func (q *batches) release(b *batch) {
	b.raw, b.blocks, b.held, b.heldEnd = b.raw[:0], b.blocks[:0], b.held[:0], b.heldEnd[:0]
	b.separators, b.separatorEnds = b.separators[:0], b.separatorEnds[:0]
	b.stored, b.ends = b.stored[:0], b.ends[:0]
	if max(cap(b.raw), cap(b.held), cap(b.stored)) <= mostKept {
		q.free = append(q.free, b)
	}
}

// encode encodes the blocks, if the batch is ready and nobody does. One that is
// called late may find the batch in use again: being filled, or ready anew. What
// a codec panics with is for the Writer's goroutine.
func (b *batch) encode() {
	if !b.ready.CompareAndSwap(true, false) {
		return
	}
	defer b.done.Done()
	defer b.encoded.Store(true)
	b.failed = errPanicked // or the codec ends the goroutine
	defer func() {
		if r := recover(); r != nil {
			b.failed = r
		}
	}()
	start := 0
	for _, x := range b.blocks {
		b.stored = b.encoder.encode(b.stored, b.raw[start:x.raw])
		b.ends = append(b.ends, len(b.stored))
		start = x.raw
	}
	b.failed = nil
	if cap(b.raw) > mostKept { // gone before all is written
		b.raw, b.encoder.scratch = nil, nil
	}
}
