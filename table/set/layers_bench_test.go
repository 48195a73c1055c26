package set_test

import (
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// BenchmarkLayers looks up keys that only the base contains, or that are absent, below more and more layers. Each
// layer has the range of the base, and a hundredth of its keys.
func BenchmarkLayers(b *testing.B) {
	n := long.Size(10_000, 100_000)
	o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}
	src, m := newStore(), new(set.Manifest)
	m.Tables = append(m.Tables, src.put(b, "base", o, numbered(0, n)))
	var present, absent [][]byte
	for i := 50; i < n; i += 100 {
		present, absent = append(present, []byte(key(i))), append(absent, []byte(key(i)+"x"))
	}
	for layers := range 5 {
		if layers > 0 {
			m.Layers = append(m.Layers, set.Layer{
				Tables:   []set.Table{src.put(b, fmt.Sprint("added", layers), o, every100th(n, "+"))},
				Removals: []set.Table{src.put(b, fmt.Sprint("removed", layers), o, every100th(n, "-"))},
			})
		}
		s := open(b, m, src, &set.Options{OpenAll: true, Reader: table.ReaderOptions{Cache: table.NewCache(1 << 26)}})
		for range 3 { // the Cache keeps a block when it is read again
			for i := range n {
				checkGet(b, s, key(i), valueOf(i))
			}
		}
		for _, keys := range []struct {
			name string
			keys [][]byte
		}{{"absent", absent}, {"present", present}} {
			b.Run(fmt.Sprintf("keys=%s/layers=%d", keys.name, layers), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					s.Get(background, keys.keys[i%len(keys.keys)])
				}
			})
		}
	}
}

// every100th returns pairs for every hundredth of n numbers, with a suffix in each key.
func every100th(n int, ending string) (pairs [][2]string) {
	for i := 0; i <= n; i += 100 {
		pairs = append(pairs, [2]string{key(i) + ending, ""})
	}
	return pairs
}
