package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// BenchmarkOpenMapped opens and closes a mapped table of W1, which reads its footer. heap-B is how much of
// the heap an open table takes after ten lookups, of which the first has read index and filters.
func BenchmarkOpenMapped(b *testing.B) {
	name := filepath.Join(b.TempDir(), "w1.ldb")
	if err := os.WriteFile(name, tableOf(b, w1(), table.NoCompression), 0o666); err != nil {
		b.Fatal(err)
	}
	openMapped := func() *table.Reader {
		r, err := table.Open(name, &table.ReaderOptions{Mapped: true})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := openMapped().Close(); err != nil {
			b.Fatal(err)
		}
	}
	readers, look, before := make([]*table.Reader, 100), present(w1()), heap()
	for i := range readers {
		readers[i] = openMapped()
		for k := range 10 {
			if err := look(readers[i], k); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(heap()-before)/float64(len(readers)), "heap-B")
	for _, r := range readers {
		r.Close()
	}
}

// heap returns how many bytes of the heap are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one has found to be unused can have freed more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
