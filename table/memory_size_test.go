package table_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// MemorySize is what the runtime says, within a tenth: of tables with many and few blocks, with
// each kind of filter, and with a cache. Not parallel, since it measures the heap.
func TestMemorySize(t *testing.T) {
	pairs := numbered(20_000)
	for name, tt := range map[string]struct {
		w table.WriterOptions
		o table.ReaderOptions
	}{
		"no filter":      {},
		"filters":        {w: table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}},
		"small blocks":   {w: table.WriterOptions{FilterPolicy: filter.NewBloom(20), BlockSize: 100}},
		"with a cache":   {w: table.WriterOptions{BlockSize: 200}, o: table.ReaderOptions{Cache: table.NewCache(1)}},
		"ignored filter": {w: table.WriterOptions{FilterPolicy: filter.NewBloom(30)}, o: table.ReaderOptions{IgnoreFilter: true}},
	} {
		contents := build(t, &tt.w, pairs)
		size, heap := heapOf(t, contents, &tt.o)
		if size < heap*9/10-500 || size > heap*11/10+500 {
			t.Errorf("%s: MemorySize = %d, and the heap grew by %d", name, size, heap)
		}
	}
}

// heapOf returns the MemorySize of a Reader, and by how much the heap grows for one.
func heapOf(t *testing.T, contents []byte, o *table.ReaderOptions) (size, heap int64) {
	const n = 20
	var readers [n]*table.Reader
	before := settledHeap()
	for i := range readers {
		readers[i] = open(t, contents, o)
		size = readers[i].MemorySize() // has the search tree built, which it counts
	}
	after := settledHeap()
	runtime.KeepAlive(readers)
	return size, (after - before) / n
}

// settledHeap returns the bytes of the heap when nothing is freed any more. What is in pools takes two
// collections, and what goroutines of earlier tests have is freed when they have ended.
func settledHeap() int64 {
	var m runtime.MemStats
	for last, same := int64(-1), 0; same < 3; last = int64(m.HeapAlloc) {
		runtime.GC()
		runtime.ReadMemStats(&m)
		if same++; int64(m.HeapAlloc) < last-1000 || last < 0 {
			same = 0
		}
	}
	return int64(m.HeapAlloc)
}

// Ten thousand open tables that hand out their bytes take about 1 KB each, also after a lookup.
func TestTenThousandTables(t *testing.T) {
	long.NoRace(t)
	const n = 10_000
	contents := build(t, withBloom, numbered(2000))
	before := settledHeap()
	readers := make([]*table.Reader, n)
	for i := range readers {
		r, err := table.NewReader(table.Bytes(contents), int64(len(contents)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Get(fmt.Appendf(nil, "key%06d", i%2000/2*2)); err != nil {
			t.Fatal(err)
		}
		readers[i] = r
	}
	if took := settledHeap() - before; took > n*1500 {
		t.Errorf("%d open tables take %d bytes, want ≤ 1500 for each", n, took)
	}
	runtime.KeepAlive(readers)
}
