package bench

import (
	"io"
	"time"
)

// A slowReaderAt waits before each read, as a program does for a disk or for an object store.
// Its counts are not for several goroutines.
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

// oversleep is how much longer than asked for time.Sleep may take. It takes 1.1 ms for 100 µs
// on some machines.
const oversleep = 3 * time.Millisecond

// wait returns when d has passed since start. It sleeps only as long as it cannot oversleep,
// and looks at the clock until the end.
func wait(start time.Time, d time.Duration) {
	if d > oversleep {
		time.Sleep(d - oversleep)
	}
	for time.Since(start) < d {
	}
}
