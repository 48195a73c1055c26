package bench

import (
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/figures"
)

// benchtime is the default for -benchtime. With it, all benchmarks take one to two minutes.
const benchtime = "300ms"

// TestMain prints summaries after the benchmarks' lines. Programs such as benchstat skip them.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.benchtime" })
	if !given {
		if err := flag.Set("test.benchtime", benchtime); err != nil {
			log.Fatal(err)
		}
	}
	code := m.Run()
	fmt.Print(members.table(), looked.table())
	os.Exit(code)
}

// A lookupsID identifies a kind of lookup by the names of source and keys, and by the use of the filter.
type lookupsID struct{ from, ask, reads string }

func (id lookupsID) String() string {
	return fmt.Sprintf("from=%s/ask=%s/reads=%s", id.from, id.ask, id.reads)
}

// A tally is the sum of the measurements of one kind of lookup.
type tally struct {
	lookups, blocks uint64 // blocks are data blocks that were read
	took            time.Duration
	delays          int // delayed reads
	waited          time.Duration
}

func (t tally) perSecond() float64 { return float64(t.lookups) / t.took.Seconds() }

// tallies contains the measurements of BenchmarkLookups: with -count, the sums of all runs.
type tallies map[lookupsID]tally

var looked = tallies{}

func (all tallies) add(id lookupsID, t tally) {
	sum := all[id]
	all[id] = tally{
		sum.lookups + t.lookups, sum.blocks + t.blocks, sum.took + t.took,
		sum.delays + t.delays, sum.waited + t.waited,
	}
}

// table returns the summary. If nothing was measured, it returns "".
func (all tallies) table() string {
	if len(all) == 0 {
		return ""
	}
	const row = "%-25s %12s %13s %14s %13s %8s\n"
	var out strings.Builder
	fmt.Fprintf(&out, "\nLookups in a table of %s entries:\n\n%37s %30s\n", figures.Grouped(entries()), "without filter", "with filter")
	fmt.Fprintf(&out, row, "", "lookups/s", "reads/lookup", "lookups/s", "reads/lookup", "faster")
	for _, from := range sources {
		for _, ask := range asks {
			without, with := all[lookupsID{from.name, ask.name, "unfiltered"}], all[lookupsID{from.name, ask.name, "filtered"}]
			times := "-"
			if without.lookups > 0 && with.lookups > 0 {
				times = figures.Digits(with.perSecond()/without.perSecond()) + " ×"
			}
			fmt.Fprintf(&out, row, from.title+", "+ask.title, without.rate(), without.reads(), with.rate(), with.reads(), times)
		}
	}
	fmt.Fprintf(&out, "\nEach read is one data block, without a cache. Filters are LevelDB's, by data block, with 10\n"+
		"bits per key. Each line has at least 100 reads. The file is in the page cache.\n%s", all.delays())
	return out.String()
}

// rate formats the lookups per second, rounded to three digits.
func (t tally) rate() string {
	if t.lookups == 0 {
		return "-"
	}
	unit := math.Pow(10, max(0, math.Floor(math.Log10(t.perSecond()))-2))
	return figures.Grouped(int(math.Round(t.perSecond()/unit) * unit))
}

func (t tally) reads() string {
	if t.lookups == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f", float64(t.blocks)/float64(t.lookups))
}

// delays describes the delays of each source.
func (all tallies) delays() string {
	var out strings.Builder
	for _, from := range sources {
		sum := tally{}
		for id, t := range all {
			if id.from == from.name {
				sum.delays += t.delays
				sum.waited += t.waited
			}
		}
		if sum.delays > 0 {
			mean := 1e3 * sum.waited.Seconds() / float64(sum.delays)
			fmt.Fprintf(&out, "The %s is that file with %v ms before each read (measured: %s ms).\n",
				from.title, 1e3*from.delay.Seconds(), figures.Digits(mean))
		}
	}
	return out.String()
}
