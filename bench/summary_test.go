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

// benchtime is how long each benchmark takes, unless -benchtime says otherwise: all of them
// together take about a minute.
const benchtime = "300ms"

// TestMain prints what benchmarks measured as tables, below their lines. Programs that read
// these lines, such as benchstat, skip the tables.
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

// A lookupsID is one kind of lookups: the names of source and question, and whether the filter
// is used.
type lookupsID struct{ from, ask, reads string }

func (id lookupsID) String() string {
	return fmt.Sprintf("from=%s/ask=%s/reads=%s", id.from, id.ask, id.reads)
}

// A tally is what lookups of one kind did.
type tally struct {
	lookups, blocks uint64 // blocks are data blocks that were read
	took            time.Duration
	delays          int // delayed reads
	waited          time.Duration
}

func (t tally) perSecond() float64 { return float64(t.lookups) / t.took.Seconds() }

// tallies are what BenchmarkLookups measured, with -count the sums of all runs.
type tallies map[lookupsID]tally

var looked = tallies{}

func (all tallies) add(id lookupsID, t tally) {
	sum := all[id]
	all[id] = tally{
		sum.lookups + t.lookups, sum.blocks + t.blocks, sum.took + t.took,
		sum.delays + t.delays, sum.waited + t.waited,
	}
}

// table returns the summary, "" if nothing was measured.
func (all tallies) table() string {
	if len(all) == 0 {
		return ""
	}
	const row = "%-25s %12s %13s %14s %13s %8s\n"
	var out strings.Builder
	fmt.Fprintf(&out, "\nLookups in a table of 1,000,000 entries:\n\n%37s %30s\n", "without filter", "with filter")
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
	fmt.Fprintf(&out, "\nA read is of one data block: there is no cache. The filters are LevelDB's, by data\n"+
		"blocks, with 10 bits per key. Each line is of at least 100 reads. The operating system has\n"+
		"the file in memory.\n%s", all.delays())
	return out.String()
}

// rate writes the lookups a second, rounded to three digits.
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

// delays tells how long the reads of each source were delayed.
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
