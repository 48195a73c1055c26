package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// A farReaderAt sleeps before each read. Unlike a slowReaderAt, it is safe for concurrent use, and may oversleep.
type farReaderAt struct {
	io.ReaderAt
	delay time.Duration
	reads atomic.Int64
}

func (f *farReaderAt) ReadAt(p []byte, off int64) (int, error) {
	f.reads.Add(1)
	time.Sleep(f.delay)
	return f.ReaderAt.ReadAt(p, off)
}

// batches lists the batches of BenchmarkGetMany.
var batches = []struct {
	name  string
	delay time.Duration // of each read; 0: the whole table is in a cache
	size  int
	key   func(set workload.Set, i int) []byte
}{
	{"present/from=cache", 0, 64, func(set workload.Set, i int) []byte { return set.Keys[set.Hits[i%len(set.Hits)]] }},
	{"absent/from=cache", 0, 64, func(set workload.Set, i int) []byte { return set.Absent[i%len(set.Absent)] }},
	{"absent/from=object-store", 20 * time.Millisecond, 1000, func(set workload.Set, i int) []byte { return set.Absent[i%len(set.Absent)] }},
	{"clustered/from=object-store", 20 * time.Millisecond, 100, clustered},
}

// clustered returns keys in groups of 20 neighbors.
func clustered(set workload.Set, i int) []byte {
	const cluster = 20
	return set.Keys[(set.Hits[i/cluster%len(set.Hits)]+i%cluster)%len(set.Keys)]
}

// BenchmarkGetMany compares GetMany with a loop of Get.
func BenchmarkGetMany(b *testing.B) {
	set := w1()
	contents := tableOf(b, set, table.Snappy)
	for _, batch := range batches {
		keys := make([][]byte, 1<<17/batch.size*batch.size)
		for i := range keys {
			keys[i] = batch.key(set, i)
		}
		run := func(name string, get func(*table.Reader, [][]byte) error) {
			b.Run("keys="+batch.name+"/op="+name, func(b *testing.B) {
				r, far := openFar(b, contents, batch.delay)
				b.ReportAllocs()
				at, n := 0, 0
				for ; b.Loop(); n += batch.size {
					if err := get(r, keys[at:at+batch.size]); err != nil {
						b.Fatal(err)
					}
					at = (at + batch.size) % len(keys)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/key")
				b.ReportMetric(float64(far.reads.Load())/float64(n), "requests/key")
			})
		}
		run("loop", getEach)
		run("many", getMany)
	}
}

// openFar opens a table whose reads are delayed once it is open. If delay is 0, the whole table is in a block
// cache.
func openFar(b *testing.B, contents []byte, delay time.Duration) (*table.Reader, *farReaderAt) {
	b.Helper()
	far := &farReaderAt{ReaderAt: bytes.NewReader(contents)}
	var o table.ReaderOptions
	if delay == 0 {
		o.Cache = table.NewCache(2 << 30)
	}
	r, err := table.NewReader(far, int64(len(contents)), &o)
	noError(b, err)
	if delay == 0 {
		for range r.All(nil) {
		}
	}
	far.delay = delay
	far.reads.Store(0)
	return r, far
}

// getEach and getMany add each value's first byte to firstBytes, so that they use the values.
var firstBytes int

func getEach(r *table.Reader, keys [][]byte) error {
	for _, key := range keys {
		value, err := r.Get(key)
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return err
		}
		if err == nil {
			firstBytes += int(value[0])
		}
	}
	return nil
}

func getMany(r *table.Reader, keys [][]byte) error {
	return r.GetMany(context.Background(), keys, nil, func(_ int, value []byte) error {
		firstBytes += int(value[0])
		return nil
	})
}
