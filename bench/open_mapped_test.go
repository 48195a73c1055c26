package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkOpenMapped opens and closes a mapped table of W1. Opening reads only the footer. heap-B is the heap
// memory of an open table after ten lookups, the first of which reads the index and the filters.
func BenchmarkOpenMapped(b *testing.B) {
	name := filepath.Join(b.TempDir(), "w1.ldb")
	noError(b, os.WriteFile(name, tableOf(b, w1(), table.NoCompression), 0o666))
	taken := heapOfMapped(b, name) // first: the loop leaves mappings for the garbage collector
	loop(b, func(int) error { return openMapped(b, name).Close() })
	b.ReportMetric(taken, "heap-B")
}

func openMapped(b *testing.B, name string) *table.Reader {
	r, err := table.Open(name, &table.ReaderOptions{Mapped: true})
	noError(b, err)
	return r
}

// heapOfMapped returns the heap memory per open table.
func heapOfMapped(b *testing.B, name string) float64 {
	readers, before := make([]*table.Reader, 100), filtertest.HeapInUse()
	for i := range readers {
		readers[i] = openMapped(b, name)
		look := present(readers[i], w1())
		for k := range 10 {
			noError(b, look(k))
		}
	}
	taken := float64(filtertest.HeapInUse()-before) / float64(len(readers))
	for _, r := range readers {
		r.Close()
	}
	return taken
}
