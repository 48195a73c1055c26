package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkCacheZipf looks up keys with a Zipf distribution in a file, with a Cache that holds part of the data.
func BenchmarkCacheZipf(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		name := filepath.Join(b.TempDir(), "t.ldb")
		noError(b, os.WriteFile(name, contents, 0o666))
		order := rand.New(rand.NewPCG(1, 47)).Perm(len(set.Keys))
		for _, percent := range []int64{10, 50} {
			b.Run(fmt.Sprintf("cache=%d%%", percent), func(b *testing.B) {
				var m table.Metrics
				r, err := table.Open(name, &table.ReaderOptions{Cache: table.NewCache(set.Bytes() * percent / 100), Metrics: &m})
				noError(b, err)
				defer r.Close()
				zipf := rand.NewZipf(rand.New(rand.NewPCG(2, 47)), 1.05, 10, uint64(len(order)-1))
				get := func() {
					if _, err := r.Get(set.Keys[order[zipf.Uint64()]]); err != nil {
						b.Fatal(err)
					}
				}
				for range len(order) / 2 {
					get()
				}
				before := m.BlocksRead.Load()
				for b.Loop() {
					get()
				}
				b.ReportMetric(float64(m.BlocksRead.Load()-before)/float64(b.N), "blocks/op")
			})
		}
	})
}
