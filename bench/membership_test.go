package bench

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/membership"
)

var largeSets = flag.Bool("membership.large", false, "sets of up to 10,000,000 keys in BenchmarkMembership, which take 1.5 GB of memory")

// most is the size of the largest set.
func most() int {
	if *largeSets {
		return membership.Largest
	}
	return 1_000_000
}

var pool = sync.OnceValue(func() *membership.Pool { return membership.NewPool(most(), membership.Questions) })

// BenchmarkMembership looks up keys in a Bloom filter, a sorted slice, a map and a list.
func BenchmarkMembership(b *testing.B) {
	for _, n := range membership.Sizes(most()) {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			keys, present := pool().Keys(n), pool().Present(n)
			for _, form := range membership.Forms {
				if n > form.Most {
					continue
				}
				set := form.New(keys)
				b.Run("ask=absent/form="+dashed(form.Name), func(b *testing.B) {
					members.add(memberID{n, form.Name, false}, askSet(b, set, pool().Absent()))
				})
				b.Run("ask=present/form="+dashed(form.Name), func(b *testing.B) {
					members.add(memberID{n, form.Name, true}, askSet(b, set, present))
				})
			}
		})
	}
}

// dashed returns a name for use in a benchmark's name.
func dashed(name string) string { return strings.ReplaceAll(name, " ", "-") }

// askSet looks up the questions in the set. An operation is one lookup.
func askSet(b *testing.B, set membership.Set, questions [][]byte) memberTally {
	probes := membership.MeanProbes(set, questions)
	positives, i := 0, 0
	for b.Loop() {
		if set.Contains(questions[i&(membership.Questions-1)]) {
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

// add adds a tally, unless it has so few lookups that their time is the clock's.
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
	for _, form := range membership.Forms {
		fmt.Fprintf(&out, "%17s", form.Name)
	}
	fmt.Fprintf(&out, "%17s\n", "false positives")
	for _, present := range []bool{false, true} {
		for _, n := range membership.Sizes(membership.Largest) {
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
	for _, form := range membership.Forms {
		t, ok := all[memberID{n, form.Name, present}]
		measured = measured || ok
		line += fmt.Sprintf("%17s", t.cell())
		if form.Name == "Bloom filter" && ok && !present {
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
