package bench

import (
	"testing"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkSeek creates an Iter, seeks a present key of W1, and moves ten entries further.
func BenchmarkSeek(b *testing.B) {
	set := w1()
	contents := tabletest.Build(b, nil, set.Pairs())
	for _, bb := range []struct {
		name string
		o    table.ReaderOptions
	}{
		{"cached", table.ReaderOptions{Cache: table.NewCache(512 << 20)}},
		{"uncached", table.ReaderOptions{}},
	} {
		r := tabletest.Open(b, contents, &bb.o)
		for range r.All(nil) {
		}
		b.Run(bb.name, func(b *testing.B) {
			loop(b, func(i int) error {
				it := r.NewIter(nil)
				ok := it.SeekGE(set.Keys[set.Hits[i%len(set.Hits)]])
				for range 10 {
					ok = ok && it.Next()
				}
				return it.Close()
			})
		})
	}
}
