package bench

import (
	"io"
	"time"
)

// A slowReaderAt waits before each read, like a disk or an object store. It is not safe for concurrent use.
type slowReaderAt struct {
	io.ReaderAt
	delay time.Duration

	reads  int
	waited time.Duration // measured
}

func (s *slowReaderAt) ReadAt(p []byte, off int64) (int, error) {
	start := time.Now()
	wait(start, s.delay)
	s.reads++
	s.waited += time.Since(start)
	return s.ReaderAt.ReadAt(p, off)
}

// oversleep is the time by which time.Sleep may exceed its duration: on some machines, 100 µs take 1.1 ms.
const oversleep = 3 * time.Millisecond

// wait returns when d has passed since start. It sleeps only if it cannot oversleep, and polls the clock for the
// rest.
func wait(start time.Time, d time.Duration) {
	if d > oversleep {
		time.Sleep(d - oversleep)
	}
	for time.Since(start) < d {
	}
}
