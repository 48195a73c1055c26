package table

import "slices"

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
