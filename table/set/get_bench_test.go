package set_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// BenchmarkHotTable looks up keys in one small table, whose blocks are cached. Run it with -cpu 1,2: goroutines wait
// for each other if they write to the same memory.
func BenchmarkHotTable(b *testing.B) {
	const n = 2000
	src, m := newStore(), new(set.Manifest)
	m.Tables = append(m.Tables, src.put(b, "t", filtered, numbered(0, n)))
	s := open(b, m, src, &set.Options{Reader: table.ReaderOptions{Cache: table.NewCache(1 << 24)}})
	var present, absent [][]byte
	for i := range n - 1 {
		present, absent = append(present, []byte(key(i))), append(absent, []byte(key(i)+"x"))
		for range 3 { // the Cache keeps a block when it is read again
			checkGet(b, s, key(i), valueOf(i))
		}
	}
	for _, c := range []struct {
		name string
		keys [][]byte
		ask  func(key []byte)
	}{
		{"keys=absent/op=maycontain", absent, func(key []byte) { s.MayContain(background, key) }},
		{"keys=absent/op=get", absent, func(key []byte) { s.Get(background, key) }},
		{"keys=present/op=get", present, func(key []byte) { s.Get(background, key) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for i := rand.IntN(n); pb.Next(); i++ {
					c.ask(c.keys[i%len(c.keys)])
				}
			})
		})
	}
}
