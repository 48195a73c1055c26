package set_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// BenchmarkOpening opens a table in a directory for each lookup of an absent key.
func BenchmarkOpening(b *testing.B) {
	filterOnly := &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}
	for _, c := range []struct {
		name string
		o    *table.WriterOptions
		keys int
	}{
		{"data", filtered, 50},
		{"data", filtered, 50_000},
		{"filter-only", filterOnly, 50},
		{"filter-only", filterOnly, long.Size(50_000, 500_000)},
	} {
		dir := b.TempDir()
		writeTables(b, dir, c.o, 2, c.keys)
		for _, mapped := range []bool{false, true} {
			b.Run(fmt.Sprintf("table=%s/keys=%d/mapped=%t", c.name, c.keys, mapped), func(b *testing.B) {
				o := set.Options{MemorySize: 1} // keeps no table open
				o.Reader.Mapped = mapped
				s := openDir(b, dir, &o)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if _, err := s.MayContain(background, []byte(key(i%2*c.keys+7)+"x")); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// writeTables writes a set of tables with that many keys each into a directory.
func writeTables(t testing.TB, dir string, o *table.WriterOptions, tables, keys int) *set.Manifest {
	t.Helper()
	src, m := setOf(t, tables, keys, o)
	src.writeTo(t, dir, m)
	return m
}

// BenchmarkMemorySize looks up absent keys of 100 tables in several orders. MemorySize is a percentage of the
// tables' memory.
func BenchmarkMemorySize(b *testing.B) {
	const tables = 100
	keys := long.Size(990, 9900)
	dir := b.TempDir()
	o := &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(100)}
	m := writeTables(b, dir, o, tables, keys)
	all := int64(0)
	for _, line := range m.Tables {
		all += line.TailSize
	}
	for _, order := range []string{"random", "cyclic"} {
		for _, mapped := range []bool{false, true} {
			for _, percent := range []int64{50, 75, 95, 105} {
				b.Run(fmt.Sprintf("order=%s/mapped=%t/percent=%d", order, mapped, percent), func(b *testing.B) {
					o := set.Options{MemorySize: all * percent / 100}
					o.Reader.Mapped = mapped
					s := openDir(b, dir, &o)
					rng := rand.New(rand.NewPCG(33, 3))
					for i := 0; b.Loop(); i++ {
						k := i % tables * keys
						if order == "random" {
							k = rng.IntN(tables * keys)
						}
						if _, err := s.MayContain(background, []byte(key(k)+"x")); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
