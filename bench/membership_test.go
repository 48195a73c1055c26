package bench

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
)

var largeSets = flag.Bool("membership.large", false, "sets of up to 10,000,000 keys in BenchmarkMembership, which take 1.5 GB of memory")

// largest is the size of the largest set with -membership.large.
const largest = 10_000_000

// most returns the size of the largest set to measure.
func most() int {
	if *largeSets {
		return largest
	}
	return entries()
}

// sizes returns the sizes that are measured: the powers of ten from 10 to most.
func sizes(most int) (all []int) {
	for n := 10; n <= most; n *= 10 {
		all = append(all, n)
	}
	return all
}

// lookupCount returns the number of keys to look up, a power of two. Without -short, they take far more memory than the
// processor's caches have, and are too many for its branch prediction to learn the results.
func lookupCount() int { return long.Size(1<<14, 1<<20) }

// A keyPool has the keys of sets, and absent keys, both in random order.
type keyPool struct{ members, absent [][]byte }

var pool = sync.OnceValue(func() *keyPool { return newPool(most(), lookupCount()) })

// newPool returns a pool for sets of up to most keys, with that many keys to look up.
func newPool(most, lookupCount int) *keyPool {
	keys := workload.Users(most + lookupCount)
	return &keyPool{keys[:most], keys[most:]}
}

// keys returns n keys in ascending order. Larger sets contain them too.
func (p *keyPool) keys(n int) [][]byte {
	keys := slices.Clone(p.members[:n])
	slices.SortFunc(keys, bytes.Compare)
	workload.Pack(keys)
	return keys
}

// present returns random keys of the set of n keys, as many as there are absent keys. They are copies, so that a
// lookup does not bring the set's own key into the processor's cache.
func (p *keyPool) present(n int) [][]byte {
	rng := rand.New(rand.NewPCG(7, 7))
	keys := make([][]byte, len(p.absent))
	for i := range keys {
		keys[i] = p.members[rng.IntN(n)]
	}
	workload.Pack(keys)
	return keys
}

// BenchmarkMembership looks up keys in a Bloom filter, a sorted slice, a map and a list.
func BenchmarkMembership(b *testing.B) {
	for _, n := range sizes(most()) {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			keys, present := pool().keys(n), pool().present(n)
			for _, form := range forms {
				if n > form.most {
					continue
				}
				set := form.new(keys)
				b.Run("ask=absent/form="+dashed(form.name), func(b *testing.B) {
					members.add(memberID{n, form.name, false}, benchmarkSet(b, set, pool().absent))
				})
				b.Run("ask=present/form="+dashed(form.name), func(b *testing.B) {
					members.add(memberID{n, form.name, true}, benchmarkSet(b, set, present))
				})
			}
		})
	}
}

// dashed returns a name for use in a benchmark's name.
func dashed(name string) string { return strings.ReplaceAll(name, " ", "-") }

// benchmarkSet looks up the keys in the set. An operation is one lookup.
func benchmarkSet(b *testing.B, set keySet, keys [][]byte) memberTally {
	probes := meanProbes(set, keys)
	positives, i := 0, 0
	for b.Loop() {
		if set.Contains(keys[i&(len(keys)-1)]) {
			positives++
		}
		i++
	}
	t := memberTally{float64(i), b.Elapsed().Seconds() * 1e9, float64(positives), probes}
	if probes > 0 {
		b.ReportMetric(probes, "probes/lookup")
	}
	b.ReportMetric(t.positives/t.lookups, "positives/lookup")
	return t
}

// A memberID identifies a kind of lookup in a set.
type memberID struct {
	keys    int
	form    string
	present bool
}

// A memberTally is the sum of the measurements of one kind of lookup. Probes are per lookup.
type memberTally struct{ lookups, ns, positives, probes float64 }

// memberTallies contains the measurements of BenchmarkMembership: with -count, the sums of all runs.
type memberTallies map[memberID]memberTally

var members = memberTallies{}

// add adds a tally. It ignores a tally with too few lookups to be timed.
func (all memberTallies) add(id memberID, t memberTally) {
	if t.lookups < 100 {
		return
	}
	sum := all[id]
	all[id] = memberTally{sum.lookups + t.lookups, sum.ns + t.ns, sum.positives + t.positives, t.probes}
}

// table returns the summary. If nothing was measured, it returns "".
func (all memberTallies) table() string {
	if len(all) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\nIs a key in the set? Nanoseconds per lookup (and probes):\n\n%-20s", "keys of the set")
	for _, form := range forms {
		fmt.Fprintf(&out, "%17s", form.name)
	}
	fmt.Fprintf(&out, "%17s\n", "false positives")
	for _, present := range []bool{false, true} {
		for _, n := range sizes(largest) {
			out.WriteString(all.row(n, present))
		}
	}
	fmt.Fprint(&out, "\nProbes are bits checked in the filter, and comparisons in a slice or list; for maps, they\n"+
		"are not counted. False positives are absent keys that the filter does not rule out.\n")
	return out.String()
}

// row returns the line for one size. If that was not measured, row returns "".
func (all memberTallies) row(n int, present bool) string {
	kind := map[bool]string{false: "absent", true: "present"}[present]
	line, positives, measured := fmt.Sprintf("%10s, %-8s", figures.Grouped(n), kind), "", false
	for _, form := range forms {
		t, ok := all[memberID{n, form.name, present}]
		measured = measured || ok
		line += fmt.Sprintf("%17s", t.cell())
		if form.name == "Bloom filter" && ok && !present {
			positives = fmt.Sprintf("%.2f %%", 100*t.positives/t.lookups)
		}
	}
	if !measured {
		return ""
	}
	return strings.TrimRight(fmt.Sprintf("%s%17s", line, positives), " ") + "\n"
}

func (t memberTally) cell() string {
	switch {
	case t.lookups == 0:
		return "-"
	case t.probes == 0:
		return figures.Digits(t.ns / t.lookups)
	default:
		return fmt.Sprintf("%s (%s)", figures.Digits(t.ns/t.lookups), figures.Digits(t.probes))
	}
}
