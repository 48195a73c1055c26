package table

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
)

const (
	firstJobSize = 16 << 10  // small, so that a small table has jobs for all goroutines
	jobSize      = 128 << 10 // large, so that handing over a job takes hardly any time
)

// An encodeQueue has other goroutines encode data blocks, and returns the blocks in the order in which they were
// added. Only the Writer's goroutine calls its methods:
//
//	fill filling → submit → next → recycle
//
// A job has one owner at a time. The Writer fills it. submit gives it to a goroutine of its own, and receiving from
// done gives it back. So a job needs neither a lock nor a flag. No goroutine waits for the Writer, so none leaks if
// the Writer is dropped without Close.
//
// Whether a job is due depends on the number of jobs and on their sizes, not on their progress. So Writer.Size is
// the same in each run.
type encodeQueue struct {
	codec    Codec
	filling  *encodeJob   // takes the next block
	fullSize int          // the size at which filling is full
	jobs     []*encodeJob // submitted, the oldest first
	bytes    int          // the sum of their sizes
	maxJobs  int          // with more jobs the oldest one is due
	maxBytes int          // with more bytes, it is due too
	free     []*encodeJob // for reuse

	encoding chan struct{}  // has an element for each job that is being encoded
	running  sync.WaitGroup // the goroutines
	stopped  atomic.Bool    // jobs that have not started need not be encoded
}

// newEncodeQueue returns an encodeQueue that encodes that many jobs at a time.
func newEncodeQueue(concurrency, blockSize int, codec Codec) *encodeQueue {
	maxJobs := 2 * concurrency
	q := &encodeQueue{
		codec:    codec,
		fullSize: firstJobSize,
		maxJobs:  maxJobs,
		maxBytes: 2 * maxJobs * max(jobSize, blockSize),
		encoding: make(chan struct{}, concurrency),
	}
	q.filling = q.newJob()
	return q
}

func (q *encodeQueue) newJob() *encodeJob {
	if n := len(q.free); n > 0 {
		job := q.free[n-1]
		q.free = q.free[:n-1]
		return job
	}
	job := jobPool.Get().(*encodeJob)
	job.encoder.codec, job.done = q.codec, make(chan struct{}, 1)
	job.run = func() { // once: a closure for each go statement would allocate
		defer q.running.Done()
		q.encoding <- struct{}{}
		defer func() { <-q.encoding }()
		if !q.stopped.Load() {
			job.encode()
		}
	}
	return job
}

// full reports whether it is time to submit.
func (q *encodeQueue) full() bool { return q.filling.bytes() >= q.fullSize }

// submit has the filled job encoded, and starts to fill another one.
func (q *encodeQueue) submit() {
	job := q.filling
	job.size = job.bytes()
	q.jobs = append(q.jobs, job)
	q.bytes += job.size
	q.running.Add(1)
	go job.run()
	q.fullSize = min(2*q.fullSize, jobSize)
	q.filling = q.newJob()
}

// next returns the oldest job, encoded, if it is time to write it or all is true. It returns nil if there is none. A
// single job is not due, however large it is, so that the next one is filled meanwhile. If the codec panicked, next
// panics with the same value.
func (q *encodeQueue) next(all bool) *encodeJob {
	n := len(q.jobs)
	if n == 0 || !all && n <= q.maxJobs && (n == 1 || q.bytes <= q.maxBytes) {
		return nil
	}
	job := q.jobs[0]
	q.jobs = slices.Delete(q.jobs, 0, 1)
	q.bytes -= job.size
	<-job.done
	if job.panicked != nil {
		panic(job.panicked)
	}
	return job
}

// recycle takes back a job that was written. A huge one is left to the garbage
// collector.
func (q *encodeQueue) recycle(job *encodeJob) {
	if job.maxCap() <= maxKeptBuffer {
		job.reset()
		q.free = append(q.free, job)
	}
}

// stop drops the jobs that have not started, waits for the goroutines, and leaves the memory of written jobs to
// other Writers. It must be the last call.
func (q *encodeQueue) stop() {
	q.stopped.Store(true)
	q.running.Wait()
	q.recycle(q.filling)
	for _, job := range q.free {
		job.encoder.codec, job.run, job.done = nil, nil, nil
		jobPool.Put(job)
	}
	q.filling, q.free = nil, nil
}

// An encodeJob has data blocks for one goroutine to encode, and their separators and filter keys, which index and
// filter get once the blocks are written.
type encodeJob struct {
	blocks     []queuedBlock
	raw        []byte // the blocks as they were built
	filterKeys []byte // as filter.BlockWriter.AppendHash returns them
	filterEnds []int  // the end of each filter key; for prefixes, its complement
	separators []byte
	encoded    []byte // the blocks as they are stored, with trailers

	size     int // in bytes, when it was submitted
	encoder  blockEncoder
	run      func()        // encodes the job when enough others have ended
	panicked any           // the value of the codec's panic
	done     chan struct{} // has an element when all blocks are encoded
}

// A queuedBlock says where the parts of a block end in the buffers of its job.
type queuedBlock struct{ raw, filterKeys, filterEnds, separators, encoded int }

// maxKeptBuffer is the maximum capacity of a buffer that is kept for another job.
const maxKeptBuffer = 4 * jobSize

// jobPool has the empty jobs of closed Writers.
var jobPool = sync.Pool{New: func() any { return new(encodeJob) }}

// addFilterKey adds a filter key or a prefix of the block that is being built, hashed by f.
func (j *encodeJob) addFilterKey(f *filter.BlockWriter, key []byte, isPrefix bool) {
	j.filterKeys = f.AppendHash(j.filterKeys, key)
	end := len(j.filterKeys)
	if isPrefix {
		end = ^end
	}
	j.filterEnds = append(j.filterEnds, end)
}

// moveFilterKeys adds the filter keys and prefixes of block b to f. last is the block before b.
func (j *encodeJob) moveFilterKeys(f *filter.BlockWriter, last, b queuedBlock) {
	start := last.filterKeys
	for _, end := range j.filterEnds[last.filterEnds:b.filterEnds] {
		if end < 0 {
			end = ^end
			f.AddPrefixHash(j.filterKeys[start:end])
		} else {
			f.AddHash(j.filterKeys[start:end])
		}
		start = end
	}
}

// addBlock adds a block that was appended to j.raw. Its separator is added later.
func (j *encodeJob) addBlock(raw []byte) {
	j.raw = raw
	j.blocks = append(j.blocks, queuedBlock{raw: len(raw), filterKeys: len(j.filterKeys), filterEnds: len(j.filterEnds)})
}

// setSeparator sets the separator of the last block.
func (j *encodeJob) setSeparator(s []byte) {
	j.separators = append(j.separators, s...)
	j.blocks[len(j.blocks)-1].separators = len(j.separators)
}

// encode encodes the blocks. It leaves a panic of the codec to the Writer's goroutine.
func (j *encodeJob) encode() {
	j.panicked = errPanicked // stays if the codec calls runtime.Goexit
	defer func() {
		if r := recover(); r != nil {
			j.panicked = r
		}
		j.done <- struct{}{}
	}()
	start := 0
	for i := range j.blocks {
		b := &j.blocks[i]
		j.encoded = j.encoder.encode(j.encoded, j.raw[start:b.raw])
		start, b.encoded = b.raw, len(j.encoded)
	}
	j.panicked = nil
	if cap(j.raw) > maxKeptBuffer { // a huge block: free it before the encoded one is written
		j.raw, j.encoder.scratch = nil, nil
	}
}

// bytes returns the size of the job before it is encoded.
func (j *encodeJob) bytes() int {
	return len(j.raw) + len(j.filterKeys) + 8*len(j.filterEnds) + len(j.separators)
}

// maxCap returns the capacity of the largest buffer.
func (j *encodeJob) maxCap() int {
	return max(cap(j.raw), cap(j.filterKeys), 8*cap(j.filterEnds), cap(j.separators), cap(j.encoded))
}

// reset empties the job and keeps its buffers.
func (j *encodeJob) reset() {
	j.blocks, j.raw, j.encoded = j.blocks[:0], j.raw[:0], j.encoded[:0]
	j.filterKeys, j.filterEnds, j.separators = j.filterKeys[:0], j.filterEnds[:0], j.separators[:0]
}

// A blockEncoder compresses blocks and adds their trailers.
type blockEncoder struct {
	codec   Codec
	scratch []byte
}

// encode appends raw to dst with its trailer, compressed if that makes it smaller
// by more than an eighth.
func (e *blockEncoder) encode(dst, raw []byte) []byte {
	start, id := len(dst), e.codec.ID()
	switch {
	case id == NoCompression.ID():
	case e.codec == Snappy: // known to append to dst, and to leave the rest of it alone
		dst = e.codec.Encode(dst, raw)
	default:
		encoded := e.codec.Encode(e.scratch[:0], raw)
		dst = append(dst, encoded...)
		if cap(encoded) > cap(e.scratch) { // encoded itself can be the codec's memory, or raw
			e.scratch = make([]byte, cap(encoded))
		}
	}
	if n := len(dst) - start; n > 0 && n < len(raw)-len(raw)/8 {
		return appendTrailer(dst, start, id)
	}
	return appendTrailer(append(dst[:start], raw...), start, NoCompression.ID())
}

// appendTrailer appends the trailer of the block buf[start:].
func appendTrailer(buf []byte, start int, compression byte) []byte {
	t := trailerOf(buf[start:], compression)
	return append(buf, t[:]...)
}

// A trailer follows each block in the file: its compression id and its checksum.
type trailer [format.TrailerLen]byte

func trailerOf(stored []byte, compression byte) (t trailer) {
	t[0] = compression
	binary.LittleEndian.PutUint32(t[1:], format.Checksum(stored, compression))
	return t
}

// lastTrailer returns the trailer of the last block in buf.
func lastTrailer(buf []byte) []byte { return buf[len(buf)-format.TrailerLen:] }
