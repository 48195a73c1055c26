package table

import (
	"slices"
	"sync"

	"github.com/sievetable/sievetable/filter"
)

const (
	firstJobSize = 16 << 10  // small, so that a small table has jobs for all workers
	jobSize      = 128 << 10 // large, so that handing a job over costs next to nothing
)

// An encodeQueue has other goroutines, the workers, encode data blocks, and returns
// the blocks in the order in which they were added. All methods but work are for the
// Writer's goroutine:
//
//	fill filling → submit → nextDue or next → recycle
//
// A job has one owner at a time. The Writer fills it. submit gives it to the one
// goroutine that receives it from unstarted, which encodes it. Receiving from done
// gives it back to the Writer. So a job needs neither a lock nor a flag.
//
// A worker does not wait for jobs: it ends when unstarted is empty. So none outlives a
// Writer that is dropped without Close. A job that is submitted while the last worker
// ends stays in unstarted until submit starts another worker, or until next takes it:
// the Writer encodes jobs itself where it would have to wait.
//
// When a job is due depends on how many jobs there are and on their sizes, not on how
// far the workers are. So Writer.Size is the same in each run.
type encodeQueue struct {
	codec    Codec
	filling  *encodeJob   // takes the next block
	fullSize int          // the size at which filling is full
	jobs     []*encodeJob // submitted, the oldest first
	bytes    int          // the sum of their sizes
	maxJobs  int          // with more jobs the oldest one is due
	maxBytes int          // with more bytes too
	free     []*encodeJob // to be used again

	unstarted chan *encodeJob // submitted, and taken by no goroutine yet
	workers   chan struct{}   // has an element for each worker
	worker    func()          // work: go q.work() would allocate each time
}

// newEncodeQueue returns an encodeQueue for that many goroutines, the Writer's among
// them.
func newEncodeQueue(concurrency, blockSize int, codec Codec) *encodeQueue {
	maxJobs := 2 * concurrency
	q := &encodeQueue{
		codec:     codec,
		fullSize:  firstJobSize,
		maxJobs:   maxJobs,
		maxBytes:  2 * maxJobs * max(jobSize, blockSize),
		unstarted: make(chan *encodeJob, maxJobs+1), // submit does not block
		workers:   make(chan struct{}, concurrency-1),
	}
	q.filling, q.worker = q.newJob(), q.work
	return q
}

// newJob returns an empty job.
func (q *encodeQueue) newJob() *encodeJob {
	if n := len(q.free); n > 0 {
		job := q.free[n-1]
		q.free = q.free[:n-1]
		return job
	}
	job := jobPool.Get().(*encodeJob)
	job.encoder.codec = q.codec
	return job
}

// full reports whether it is time to submit.
func (q *encodeQueue) full() bool { return q.filling.bytes() >= q.fullSize }

// submit has the filled job encoded, and starts to fill another one. At most maxJobs
// jobs may be under way before.
func (q *encodeQueue) submit() {
	job := q.filling
	job.size = job.bytes()
	q.jobs = append(q.jobs, job)
	q.bytes += job.size
	q.unstarted <- job
	select {
	case q.workers <- struct{}{}:
		go q.worker()
	default: // all workers are at work
	}
	q.fullSize = min(2*q.fullSize, jobSize)
	q.filling = q.newJob()
}

// work is a worker.
func (q *encodeQueue) work() {
	defer func() { <-q.workers }()
	for job := q.take(); job != nil; job = q.take() {
		job.encode()
	}
}

// take returns the oldest job that nobody has taken, or nil if there is none.
func (q *encodeQueue) take() *encodeJob {
	select {
	case job := <-q.unstarted:
		return job
	default:
		return nil
	}
}

// nextDue returns the oldest job, encoded, if it is time to write it, and else nil.
// A single job is not due, however large it is: the next one is filled meanwhile.
func (q *encodeQueue) nextDue() *encodeJob {
	if len(q.jobs) > q.maxJobs || len(q.jobs) > 1 && q.bytes > q.maxBytes {
		return q.next()
	}
	return nil
}

// next returns the oldest job, encoded, or nil if there is none. If the codec panicked,
// next panics with the same value.
func (q *encodeQueue) next() *encodeJob {
	if len(q.jobs) == 0 {
		return nil
	}
	job := q.jobs[0]
	q.jobs = slices.Delete(q.jobs, 0, 1)
	q.bytes -= job.size
	q.await(job)
	if job.panicked != nil {
		panic(job.panicked)
	}
	return job
}

// await returns when job is encoded. Until then it encodes what nobody has taken.
func (q *encodeQueue) await(job *encodeJob) {
	for len(job.done) == 0 {
		other := q.take()
		if other == nil {
			break
		}
		other.encode()
	}
	<-job.done
}

// recycle takes back a job that was written. A huge one is left to the garbage
// collector.
func (q *encodeQueue) recycle(job *encodeJob) {
	if job.maxCap() <= maxKeptBuffer {
		job.reset()
		q.free = append(q.free, job)
	}
}

// stop drops the jobs that nobody has taken, and returns when the workers have ended.
// It is the last call. Other Writers may use the memory of jobs that were written.
func (q *encodeQueue) stop() {
	for q.take() != nil {
	}
	for range cap(q.workers) {
		q.workers <- struct{}{} // as soon as no worker has this element
	}
	q.recycle(q.filling)
	for _, job := range q.free {
		job.encoder.codec = nil
		jobPool.Put(job)
	}
	q.filling, q.free = nil, nil
}

// An encodeJob is some data blocks that one goroutine encodes, and what the index and
// the filter need of them once they are written.
type encodeJob struct {
	blocks     []queuedBlock
	raw        []byte // the blocks as they were built
	filterKeys []byte // in the form that the filter wants
	filterEnds []int  // where each of the filterKeys ends; for prefixes, the complement of it
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

// addFilterPrefix adds a prefix in the same way.
func (j *encodeJob) addFilterPrefix(f *filter.BlockWriter, prefix []byte) {
	j.filterKeys = f.AppendHash(j.filterKeys, prefix)
	j.filterEnds = append(j.filterEnds, ^len(j.filterKeys))
}

// writeFilterKeys adds the filter keys of b to f, and the prefixes.
func (j *encodeJob) writeFilterKeys(f *filter.BlockWriter, b queuedBlock) {
	start := 0
	if b.filterEnds.start > 0 {
		start = j.filterEnds[b.filterEnds.start-1]
		start = max(start, ^start)
	}
	for _, end := range j.filterEnds[b.filterEnds.start:b.filterEnds.end] {
		if end < 0 {
			end = ^end
			f.AddPrefixHash(j.filterKeys[start:end])
		} else {
			f.AddHash(j.filterKeys[start:end])
		}
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
