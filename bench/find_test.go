package bench

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkFind looks up the newest versions of W1's keys as an engine does: in a cached table of internal keys, with
// a filter of user keys.
func BenchmarkFind(b *testing.B) {
	set := w1()
	versions := set
	versions.Keys = make([][]byte, len(set.Keys))
	for i, k := range set.Keys {
		versions.Keys[i] = table.InternalKey{UserKey: k, Sequence: uint64(i), Kind: table.KindSet}.Append(nil)
	}
	order := table.InternalComparer(table.BytewiseComparer)
	var out bytes.Buffer
	writeTable(b, &out, versions, &table.WriterOptions{Comparer: order, FilterPolicy: filter.NewBloom(10)})
	r := open(b, out.Bytes(), &table.ReaderOptions{Comparer: order, Cache: table.NewCache(512 << 20)})
	for range r.NewIter(nil).All() {
	}
	var seek []byte
	b.Run("absent", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			seek = table.SearchKey(seek[:0], set.Absent[i%len(set.Absent)], table.MaxSequence)
			if _, _, err := r.Find(seek); !errors.Is(err, table.ErrNotFound) {
				b.Fatal(err)
			}
		}
	})
	b.Run("present", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			seek = table.SearchKey(seek[:0], set.Keys[set.Hits[i%len(set.Hits)]], table.MaxSequence)
			if _, _, err := r.Find(seek); err != nil {
				b.Fatal(err)
			}
		}
	})
}
