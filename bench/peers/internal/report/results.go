package report

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/figures"
)

// results contains the output of BenchmarkLookups.
type results struct {
	config []string // lines such as "cpu: AMD EPYC"
	cpu    string
	rounds map[string]map[string][]float64 // by kind of lookup and unit: a figure for each round
}

var (
	configLine = regexp.MustCompile(`^[a-z][^A-Z\s]*: `)
	processors = regexp.MustCompile(`-\d+$`)
)

// parse parses the output of go test.
func parse(text string) (*results, error) {
	r := &results{rounds: map[string]map[string][]float64{}}
	for line := range strings.Lines(text) {
		if configLine.MatchString(line) {
			r.config = append(r.config, strings.TrimSpace(line))
		}
		if cpu, ok := strings.CutPrefix(line, "cpu: "); ok {
			r.cpu = strings.TrimSpace(cpu)
		}
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "BenchmarkLookups/") || len(fields) < 4 {
			continue
		}
		id := processors.ReplaceAllString(fields[0], "")
		if r.rounds[id] == nil {
			r.rounds[id] = map[string][]float64{}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil || !(v > 0 && v < 1e15) {
				return nil, fmt.Errorf("%s: %s %s cannot be drawn", id, fields[i], fields[i+1])
			}
			unit := fields[i+1]
			r.rounds[id][unit] = append(r.rounds[id][unit], v)
		}
	}
	return r, r.check()
}

// check rejects results that lack figures for README.md.
func (r *results) check() (err error) {
	for _, k := range kinds {
		for _, e := range engines[:3] {
			if r.ratio(k.id("snappy"), e).mid == 0 {
				err = errors.Join(err, fmt.Errorf("%s has no figures of %s beside ours", k.id("snappy"), e.name))
			}
		}
	}
	if r.reads() == 0 {
		err = errors.Join(err, errors.New("no figures of the data blocks that are read"))
	}
	if r.took(saved(), noFilter).mid == 0 {
		err = errors.Join(err, errors.New("no figures of lookups without a filter"))
	}
	return err
}

// A kind is a kind of lookup.
type kind struct{ keys, cache, title string }

var kinds = []kind{
	{"absent", "full", "Absent keys, full block cache"},
	{"absent", "none", "Absent keys, no block cache"},
	{"present", "full", "Present keys, full block cache"},
	{"present", "none", "Present keys, no block cache"},
}

func (k kind) id(compression string) string {
	return "BenchmarkLookups/compression=" + compression + "/keys=" + k.keys + "/cache=" + k.cache
}

// A span is the median, the lowest and the highest of some figures, or 0 if there are none.
type span struct{ low, mid, high float64 }

func spanOf(figures []float64) span {
	n := len(figures)
	if n == 0 {
		return span{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	return span{sorted[0], (sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[n-1]}
}

// took returns the time of a lookup in nanoseconds.
func (r *results) took(id string, e engine) span { return spanOf(r.rounds[id][e.unit]) }

// ratio returns an engine's time divided by ours. mid is the ratio of the medians, so that it agrees with the times
// beside it. low and high are the lowest and highest ratio in a round.
func (r *results) ratio(id string, e engine) span {
	ours, theirs := r.rounds[id][engines[0].unit], r.rounds[id][e.unit]
	if len(ours) != len(theirs) || len(ours) == 0 {
		return span{}
	}
	var ratios []float64
	for i, v := range theirs {
		ratios = append(ratios, v/ours[i])
	}
	s := spanOf(ratios)
	s.mid = spanOf(theirs).mid / spanOf(ours).mid
	return s
}

// reads returns the number of data blocks that our lookup of an absent key reads.
func (r *results) reads() float64 {
	return spanOf(r.rounds[saved()]["sievetable-reads"]).mid
}

// columns lists the engines in RESULTS.md.
var columns = slices.Insert(slices.Clone(engines), 2, noFilter)

// page returns the measured part of RESULTS.md.
func (r *results) page() string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%s\n", picture(chartFile, narrowFile, r.alt()))
	for _, c := range r.config {
		fmt.Fprintf(&out, "- %s\n", c)
	}
	fmt.Fprint(&out, "\n|")
	for _, e := range columns {
		fmt.Fprintf(&out, " | %s", e.name)
	}
	fmt.Fprintf(&out, " |\n|---%s|\n", strings.Repeat("|---", len(columns)))
	for _, compression := range []string{"snappy", "none"} {
		for _, k := range kinds {
			fmt.Fprintf(&out, "| %s, compression %s |%s\n", k.title, compression, r.cells(k.id(compression)))
		}
	}
	return out.String() + "\n"
}

// cells returns the cells of a row: ratios for the peers, the time with its range for sievetable.
func (r *results) cells(id string) (cells string) {
	for i, e := range columns {
		took, times := r.took(id, e), r.ratio(id, e)
		switch {
		case took.mid == 0:
			cells += " — |"
		case i == 0:
			cells += fmt.Sprintf(" %s%s ns |", figures.Digits(took.mid), around(took))
		default:
			cells += fmt.Sprintf(" **%s ×**%s, %s ns |", figures.Digits(times.mid), around(times), figures.Digits(took.mid))
		}
	}
	return cells
}

func around(s span) string {
	return fmt.Sprintf(" (%s–%s)", figures.Digits(s.low), figures.Digits(s.high))
}

// readme returns the measured part of README.md.
func (r *results) readme() string {
	times := []any{r.reads()}
	for _, k := range kinds {
		s := r.ratio(k.id("snappy"), goleveldb)
		times = append(times, fmt.Sprintf("%s × as fast (%s–%s)", twoDigits(s.mid), twoDigits(s.low), twoDigits(s.high)))
	}
	const dir = "bench/peers/"
	return picture(dir+savedFile, dir+narrowSavedFile, r.savedAlt()) +
		fmt.Sprintf("\n| lookups, compared with goleveldb | absent keys | present keys |\n|---|---|---|\n"+
			"| all blocks cached | %[2]s | %[4]s |\n| no blocks cached | %[3]s | %[5]s |\n\n"+
			"A filter of 10 bits per key reduces the data blocks read per lookup of an absent key from 1 to %.2[1]g. A million\n", times...) +
		fmt.Sprintf("entries in memory, %s, median and range of %d rounds: `go test -run '^$' -bench Lookups -count 6 ./bench/peers`,\n",
			r.cpu, len(r.rounds[saved()][engines[0].unit])) +
		"two minutes. [All results](bench/peers/RESULTS.md) include Pebble and C++ LevelDB, and show where others are faster.\n"
}

// twoDigits formats a ratio with two significant digits, or with all digits before the decimal point.
func twoDigits(ratio float64) string {
	switch {
	case ratio >= 9.95:
		return fmt.Sprintf("%.0f", ratio)
	case ratio < 0.995:
		return fmt.Sprintf("%.2g", ratio)
	}
	return fmt.Sprintf("%.1f", ratio)
}
