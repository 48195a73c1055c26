package bench

import (
	"bytes"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// BenchmarkSeek creates an Iter, seeks a present key of W1, and moves ten entries further.
func BenchmarkSeek(b *testing.B) {
	set := w1()
	var out bytes.Buffer
	writeTable(b, &out, set, nil)
	for _, bb := range []struct {
		name string
		o    table.ReaderOptions
	}{
		{"cached", table.ReaderOptions{Cache: table.NewCache(512 << 20)}},
		{"uncached", table.ReaderOptions{}},
	} {
		r := open(b, out.Bytes(), &bb.o)
		for range r.NewIter(nil).All() {
		}
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				it := r.NewIter(nil)
				ok := it.SeekGE(set.Keys[set.Hits[i%len(set.Hits)]])
				for range 10 {
					ok = ok && it.Next()
				}
				if err := it.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
