package set_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// smallTables returns n tables of one key each, under two sets of names.
func smallTables(b *testing.B, n int) (src *store, manifests [2]*set.Manifest) {
	src = newStore()
	for i := range manifests {
		m := new(set.Manifest)
		for j := range n {
			m.Tables = append(m.Tables, src.put(b, fmt.Sprintf("%d-%d", i, j), nil, [][2]string{{fmt.Sprintf("key%09d", j), ""}}))
		}
		manifests[i] = m
	}
	return src, manifests
}

// BenchmarkSwap swaps sets of many small tables. The time per table should not grow with their number.
func BenchmarkSwap(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000}[:long.Size(1, 3)] {
		src, manifests := smallTables(b, n)
		few := &set.Manifest{Tables: append([]set.Table{manifests[1].Tables[0]}, manifests[0].Tables[1:]...)}
		one := tableMemory(b, src, &set.Manifest{Tables: manifests[0].Tables[:1]}, new(table.ReaderOptions))
		for _, c := range []struct {
			name string
			o    set.Options
			next *set.Manifest
			ask  bool // look up a key in each table between swaps
		}{
			{"one-new", set.Options{}, few, false},
			{"all-new", set.Options{}, manifests[1], false},
			{"all-new/opened", set.Options{OpenAll: true}, manifests[1], false},
			{"all-new/opened/bounded", set.Options{OpenAll: true, MemorySize: one * int64(n) / 2}, manifests[1], false},
			{"all-new/asked/bounded", set.Options{MemorySize: one * int64(n)}, manifests[1], true},
		} {
			b.Run(fmt.Sprintf("%s/tables=%d", c.name, n), func(b *testing.B) {
				s := open(b, manifests[0], src, &c.o)
				order := rand.New(rand.NewPCG(17, 1)).Perm(n)
				for i := 0; b.Loop(); i++ {
					next := c.next
					if i%2 == 1 {
						next = manifests[0]
					}
					noError(b, s.Swap(background, next))
					for _, j := range order {
						if !c.ask {
							break
						}
						if may, err := s.MayContain(background, fmt.Appendf(nil, "key%09d", j)); !may || err != nil {
							b.Fatal(may, err)
						}
					}
				}
				noError(b, s.Drain(background))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/table")
			})
		}
	}
}
