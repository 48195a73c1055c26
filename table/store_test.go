package table_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table"
)

// A store is a source far away: each read takes a while, and a context ends it. It keeps what
// was read.
type store struct {
	contents []byte
	latency  time.Duration
	fast     int64 // reads before this offset take no time
	bad      int   // reads from this offset on fail with err, if it is > 0
	err      error

	mu            sync.Mutex
	reads         [][2]int64 // where each starts and ends
	running, most int        // how many at a time
}

func (s *store) ReadAt(p []byte, off int64) (int, error) {
	return s.ReadAtContext(context.Background(), p, off)
}

func (s *store) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	s.mu.Lock()
	s.reads = append(s.reads, [2]int64{off, off + int64(len(p))})
	s.running++
	s.most = max(s.most, s.running)
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.running--; s.mu.Unlock() }()
	latency := s.latency
	if off < s.fast {
		latency = 0
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(latency):
		if s.bad > 0 && off >= int64(s.bad) {
			return 0, s.err
		}
		return bytes.NewReader(s.contents).ReadAt(p, off)
	}
}

// openStore opens a table and forgets the reads that it took.
func openStore(t testing.TB, contents []byte, o *table.ReaderOptions) (*table.Reader, *store) {
	t.Helper()
	s := &store{contents: contents}
	r, err := table.NewReader(s, int64(len(contents)), o)
	if err != nil {
		t.Fatal(err)
	}
	s.reads, s.most = nil, 0
	return r, s
}
