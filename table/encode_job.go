package table

import (
	"sync"

	"github.com/sievetable/sievetable/filter"
)

// An encodeJob is some data blocks that one goroutine encodes, and what the index and
// the filter need of them once they are written.
type encodeJob struct {
	blocks     []queuedBlock
	raw        []byte // the blocks as they were built
	filterKeys []byte // in the form that the filter wants
	filterEnds []int  // where each of the filterKeys ends
	separators []byte
	encoded    []byte // the blocks as they are stored, with trailers

	size     int // bytes when it was submitted
	encoder  blockEncoder
	panicked any           // what the codec panicked with
	done     chan struct{} // has an element when all blocks are encoded
}

// A queuedBlock says where the parts of a block are in its job's buffers, and which of the
// job's filterEnds are its own.
type queuedBlock struct{ raw, filterEnds, separator, encoded byteRange }

// A byteRange is a part of a buffer.
type byteRange struct{ start, end int }

func (r byteRange) of(buf []byte) []byte { return buf[r.start:r.end] }

// maxKeptBuffer is the most memory of a buffer that is kept for another job.
const maxKeptBuffer = 4 * jobSize

// jobPool has empty jobs, which Writers that are closed have left.
var jobPool = sync.Pool{New: func() any { return &encodeJob{done: make(chan struct{}, 1)} }}

// addFilterKey adds a key of the block that is being built, in the form that f wants.
func (j *encodeJob) addFilterKey(f *filter.BlockWriter, key []byte) {
	j.filterKeys = f.AppendHash(j.filterKeys, key)
	j.filterEnds = append(j.filterEnds, len(j.filterKeys))
}

// writeFilterKeys adds the filter keys of b to f.
func (j *encodeJob) writeFilterKeys(f *filter.BlockWriter, b queuedBlock) {
	start := 0
	if b.filterEnds.start > 0 {
		start = j.filterEnds[b.filterEnds.start-1]
	}
	for _, end := range j.filterEnds[b.filterEnds.start:b.filterEnds.end] {
		f.AddHash(j.filterKeys[start:end])
		start = end
	}
}

// addBlock adds a block that was built behind j.raw.
func (j *encodeJob) addBlock(raw []byte) {
	b := queuedBlock{raw: byteRange{len(j.raw), len(raw)}, filterEnds: byteRange{0, len(j.filterEnds)}}
	if n := len(j.blocks); n > 0 {
		b.filterEnds.start = j.blocks[n-1].filterEnds.end
	}
	j.raw = raw
	j.blocks = append(j.blocks, b)
}

// setSeparator sets the separator of the last block.
func (j *encodeJob) setSeparator(s []byte) {
	start := len(j.separators)
	j.separators = append(j.separators, s...)
	j.blocks[len(j.blocks)-1].separator = byteRange{start, len(j.separators)}
}

// encode encodes the blocks. What the codec panics with is for the Writer's goroutine.
func (j *encodeJob) encode() {
	j.panicked = errPanicked // stays if the codec calls runtime.Goexit
	defer func() {
		if r := recover(); r != nil {
			j.panicked = r
		}
		j.done <- struct{}{}
	}()
	for i := range j.blocks {
		b := &j.blocks[i]
		start := len(j.encoded)
		j.encoded = j.encoder.encode(j.encoded, b.raw.of(j.raw))
		b.encoded = byteRange{start, len(j.encoded)}
	}
	j.panicked = nil
	if cap(j.raw) > maxKeptBuffer { // a huge block: free it before the encoded one is written
		j.raw, j.encoder.scratch = nil, nil
	}
}

// bytes is how many bytes the job has before it is encoded.
func (j *encodeJob) bytes() int {
	return len(j.raw) + len(j.filterKeys) + 8*len(j.filterEnds) + len(j.separators)
}

// maxCap is the capacity of the largest buffer.
func (j *encodeJob) maxCap() int {
	return max(cap(j.raw), cap(j.filterKeys), 8*cap(j.filterEnds), cap(j.separators), cap(j.encoded))
}

// reset empties the job and keeps its buffers.
func (j *encodeJob) reset() {
	j.blocks, j.raw, j.encoded = j.blocks[:0], j.raw[:0], j.encoded[:0]
	j.filterKeys, j.filterEnds, j.separators = j.filterKeys[:0], j.filterEnds[:0], j.separators[:0]
}
