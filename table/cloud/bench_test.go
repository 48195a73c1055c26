package cloud_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

const (
	benchDelay   = 20 * time.Millisecond // of each request, as for an object store
	benchWorkers = 64
)

// slowServer starts an S3 server in another process, once. Each request takes benchDelay.
var slowServer = sync.OnceValue(func() string { return s3test.Start(benchDelay) })

// openSlow opens a set of 100,000 URLs in 10 tables, without a Cache, on the slow server. It returns absent and
// present keys in random order.
func openSlow(b *testing.B, o *table.WriterOptions) (*set.Set, *counter, workload.Set) {
	b.Helper()
	bucket := s3test.Open(b, slowServer())
	urls := workload.W3(100_000)
	putSet(b, bucket, o, urls.Keys, 10_000, "v")
	src := &counter{Source: newStore(bucket)}
	s := openSet(b, bucket, src, eager)
	rng := rand.New(rand.NewPCG(17, 17))
	for _, keys := range []*[][]byte{&urls.Keys, &urls.Absent} {
		*keys = slices.Clone(*keys)
		rng.Shuffle(len(*keys), func(i, j int) { (*keys)[i], (*keys)[j] = (*keys)[j], (*keys)[i] })
	}
	src.reads.Store(0)
	return s, src, urls
}

// report reports lookups per second and requests per lookup. An operation looks up keys keys.
func report(b *testing.B, src *counter, keys int) {
	b.Helper()
	n := float64(b.N * keys)
	b.ReportMetric(n/b.Elapsed().Seconds(), "lookups/s")
	b.ReportMetric(float64(src.reads.Load())/n, "requests/lookup")
}

// getParallel gets the keys one by one, on benchWorkers goroutines.
func getParallel(b *testing.B, s *set.Set, keys [][]byte, want error) {
	b.Helper()
	var next atomic.Int64
	b.SetParallelism(max(1, benchWorkers/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Get(context.Background(), keys[int(next.Add(1))%len(keys)]); err != want {
				b.Error(err)
				return
			}
		}
	})
}

// Present keys: each of the 64 workers waits for one request at a time, so at most 3,200 lookups per second are
// possible.
func BenchmarkPresent(b *testing.B) {
	s, src, urls := openSlow(b, bothFilters)
	b.ResetTimer()
	getParallel(b, s, urls.Keys, nil)
	report(b, src, 1)
}

// Absent keys: the filters rule nearly all of them out without a request.
func BenchmarkAbsent(b *testing.B) {
	s, src, urls := openSlow(b, bothFilters)
	b.ResetTimer()
	getParallel(b, s, urls.Absent, table.ErrNotFound)
	report(b, src, 1)
}

// Batches of 1,000 keys by GetMany, with block filters only, so that some absent keys need a request. Clustered keys are
// neighbors. On two busy cores: 39,600 absent and 43,000 clustered keys per second, with 0.009 and 0.001 requests each.
func BenchmarkGetMany(b *testing.B) {
	for _, name := range []string{"absent", "clustered"} {
		b.Run(name, func(b *testing.B) {
			s, src, urls := openSlow(b, blockFilters)
			keys := urls.Absent[:1000]
			if name == "clustered" {
				slices.SortFunc(urls.Keys, bytes.Compare)
				keys = urls.Keys[42_000:43_000]
			}
			for b.Loop() {
				err := s.GetMany(context.Background(), keys, &table.GetManyOptions{Concurrency: benchWorkers}, func(int, []byte) error { return nil })
				noError(b, err)
			}
			report(b, src, len(keys))
		})
	}
}

// The absent keys of GetMany, in a loop of Get: 4,540 per second, with 0.010 requests each.
func BenchmarkLoop(b *testing.B) {
	s, src, urls := openSlow(b, blockFilters)
	for b.Loop() {
		for _, key := range urls.Absent[:1000] {
			if _, err := s.Get(context.Background(), key); err != table.ErrNotFound {
				b.Fatal(err)
			}
		}
	}
	report(b, src, 1000)
}
