package bench

import (
	"errors"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// BenchmarkFind looks up the newest versions of W1's keys as an engine does: in a cached table of internal keys, with
// a filter of user keys.
func BenchmarkFind(b *testing.B) {
	set := w1()
	versions := set.Pairs()
	for i, k := range set.Keys {
		versions[i].Key = internalkey.Key{UserKey: k, Sequence: uint64(i), Kind: internalkey.Set}.Append(nil)
	}
	contents := tabletest.Build(b, &table.WriterOptions{Comparer: internalOrder, FilterPolicy: filter.NewBloom(10)}, versions)
	r := tabletest.Open(b, contents, &table.ReaderOptions{Comparer: internalOrder, Cache: table.NewCache(512 << 20)})
	for range r.All(nil) {
	}
	var seek []byte
	find := func(name string, key func(i int) []byte, want error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				seek = internalkey.SearchKey(seek[:0], key(i), internalkey.MaxSequence)
				if _, _, err := r.Find(seek); !errors.Is(err, want) {
					b.Fatal(err)
				}
			}
		})
	}
	find("absent", func(i int) []byte { return set.Absent[i%len(set.Absent)] }, table.ErrNotFound)
	find("present", func(i int) []byte { return set.Keys[set.Hits[i%len(set.Hits)]] }, nil)
}
