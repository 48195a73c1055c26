package database_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// BenchmarkGetAbsent gets absent keys that are in the ranges of four tables of level 0, and of one table of each of
// three further levels: seven filters rule them out. Each hashes the key by itself. That takes 2 % of the time for
// keys of 16 bytes and 6 % for 64: too little to share one hash.
func BenchmarkGetAbsent(b *testing.B) {
	for _, size := range []int{16, 64} {
		b.Run(fmt.Sprintf("key=%d", size), func(b *testing.B) {
			l := layout{options: table.WriterOptions{FilterPolicy: filter.NewBloom(10)}}
			const perTable = 20_000
			key := func(i int) string { return fmt.Sprintf("%0*d", size, i) }
			sequence := uint64(0)
			for n, level := range []int{3, 2, 1, 0, 0, 0, 0} {
				var entries []entry
				for i := range perTable {
					sequence++
					entries = append(entries, set(key(16*i+n), sequence, "value"))
				}
				l.table(b, level, entries...)
			}
			db := openFS(b, l.end(b), &database.Options{Reader: table.ReaderOptions{Cache: table.NewCache(64 << 20)}})
			var keys [][]byte
			for i := range perTable {
				keys = append(keys, []byte(key(16*(i*7919%perTable)+9)))
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := db.Get(keys[i%len(keys)]); !errors.Is(err, table.ErrNotFound) {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
