package filterfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkExceptions looks up three million absent keys in a table of a million, makes the most frequent false
// positives exceptions, and looks up three million more. Both follow Zipf's law over a million keys. falsepos is
// the number of false positives in the second half, and %bytes the size of the exceptions in percent of the
// filter. Both are medians of eleven runs, since much depends on whether the most frequent keys are false
// positives.
func BenchmarkExceptions(b *testing.B) {
	fuse8, err := fuse.New(8)
	noError(b, err)
	keys := workload.W1(long.Size(10_000, 1_000_000))
	for _, bb := range []struct {
		name   string
		policy filter.TablePolicy
		most   []int // exceptions
	}{
		{"table-bloom:10", filter.NewTableBloom(10), []int{0, 1000, 1 << 20}},
		{"table-bloom:11", filter.NewTableBloom(11), []int{0}},
		{"fuse:8", fuse8, []int{0, 1000, 1 << 20}},
	} {
		contents := build(b, table.WriterOptions{TableFilterPolicy: bb.policy}, keys.Keys...)
		for _, most := range bb.most {
			b.Run(fmt.Sprintf("filter=%s/exceptions=%d", bb.name, most), func(b *testing.B) {
				for b.Loop() {
					measureExceptions(b, contents, keys.Absent, bb.policy, most)
				}
			})
		}
	}
}

// measureExceptions reports the effect of up to most exceptions.
func measureExceptions(b *testing.B, contents []byte, absent [][]byte, p filter.TablePolicy, most int) {
	b.Helper()
	absent = slices.Clone(absent)
	var falsePositives, added, more []float64
	for seed := range uint64(11) {
		rng := rand.New(rand.NewPCG(1, seed))
		rng.Shuffle(len(absent), func(i, j int) { absent[i], absent[j] = absent[j], absent[i] })
		zipf := rand.NewZipf(rng, 1.01, 1, uint64(len(absent)-1))
		look := func(r *table.Reader) {
			for range 3 * len(absent) {
				if _, err := r.Get(absent[zipf.Uint64()]); err != table.ErrNotFound {
					b.Fatal(err)
				}
			}
		}
		frequent := filter.FalsePositives{Most: max(most, 1)}
		r := tabletest.Open(b, contents, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{p}, OnFalsePositive: frequent.Add})
		look(r)
		var out bytes.Buffer
		keys := frequent.Keys()
		if most == 0 {
			keys = func(func([]byte, error) bool) {}
		}
		n, err := r.Except(&out, keys)
		noError(b, err)
		m := new(table.Metrics)
		look(tabletest.Open(b, out.Bytes(), &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{p}, Metrics: m}))
		falsePositives = append(falsePositives, float64(m.FilterFalsePositives.Load()))
		added = append(added, float64(n))
		more = append(more, 100*float64(out.Len()-len(contents))/float64(r.Filters().TableEntry.Length))
	}
	b.ReportMetric(median(falsePositives), "falsepos")
	b.ReportMetric(median(added), "exceptions")
	b.ReportMetric(median(more), "%bytes")
}

func median(figures []float64) float64 {
	slices.Sort(figures)
	return figures[len(figures)/2]
}
