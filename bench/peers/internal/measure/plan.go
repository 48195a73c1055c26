package measure

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/internal/workload"
)

// A group is the works on tables of the same pairs and options.
type group struct {
	id, section string
	data        func() *data
	options     engine.Options
	tables      bool     // are wanted
	only        []string // names of the columns, nil: all
	works       []work
}

// What every row is named by in reports and charts.
const (
	GetAbsentWarm  = "get-absent-warm"
	GetPresentWarm = "get-present-warm"
	GetPresentCold = "get-present-cold"
	GetAbsentCold  = "get-absent-cold"
	ReadsAbsent    = "reads-absent"

	AskAbsent    = "ask-absent"
	probesAbsent = "probes-absent"
)

// Sections of the report.
const (
	SectionRaw     = "W1, uncompressed"
	SectionSnappy  = "W1, Snappy"
	SectionFilters = "Filters of 35 keys"
	SectionURLs    = "Absent keys by entries: W3, Snappy, warm"
	SectionBits    = "Absent keys by bits per key: W1, Snappy, cold"

	SectionMembership = "Is a key in the set? Absent keys, by keys of the set"
)

// UsualBits are the bits per key of filters where a row says nothing else. SectionBits has no row of
// them, since the works of Usual are done with them.
const UsualBits = 10

// Usual is the group that charts show lookups of.
const Usual = "W1-snappy"

// NoFilter is the group of SectionBits without filters.
const NoFilter = "bits-0"

func w1Works() []work {
	return []work{
		{id: GetAbsentWarm, title: "Get absent, warm", allocs: true, start: get(engine.Warm, false)},
		{id: GetAbsentCold, title: "Get absent, cold", x: UsualBits, allocs: true, start: get(engine.Cold, false)},
		{id: GetPresentWarm, title: "Get present, warm", allocs: true, start: get(engine.Warm, true)},
		{id: GetPresentCold, title: "Get present, cold", allocs: true, start: get(engine.Cold, true)},
		{id: "append-get-present-cold", title: "AppendGet present, cold", allocs: true, start: appendGet},
		{id: "seek-warm", title: "SeekGE, warm", allocs: true, start: seek},
		{id: "scan-forward-warm", title: "Scan forward, warm, per entry", allocs: true, start: scan(engine.Warm, false)},
		{id: "scan-forward-cold", title: "Scan forward, cold, per entry", allocs: true, start: scan(engine.Cold, false)},
		{id: "scan-backward-warm", title: "Scan backward, warm, per entry", allocs: true, start: scan(engine.Warm, true)},
		{id: "scan-backward-cold", title: "Scan backward, cold, per entry", allocs: true, start: scan(engine.Cold, true)},
		{id: "write-one-core", title: "Write, one core", unit: MBPerSecond, start: write(1)},
		{id: "write-two-cores", title: "Write, two cores", unit: MBPerSecond, start: write(2)},
		{id: "open", title: "Open and close", start: open},
		{id: "resident", title: "Memory of an open table, per entry", unit: Bytes, once: true, start: resident},
		{id: "get-absent-two", title: "Get absent, warm, two goroutines", unit: Times, start: scaling(false)},
		{id: "get-present-two", title: "Get present, warm, two goroutines", unit: Times, start: scaling(true)},
	}
}

// countedWorks do not depend on compression: blocks have the same keys.
func countedWorks() []work {
	falsePositives := func(c engine.Counts) int64 { return c.FalsePositives }
	return []work{
		{id: ReadsAbsent, title: "Reads per Get absent, cold", unit: PerLookup, once: true, start: counting(false, blocks)},
		{id: "reads-present", title: "Reads per Get present, cold", unit: PerLookup, once: true, start: counting(true, blocks)},
		{id: "false-positives", title: "False positives per Get absent", unit: PerLookup, once: true, start: counting(false, falsePositives)},
	}
}

func filterWorks() []work {
	return []work{
		{id: "build", title: "Build, per key", allocs: true, start: filters(filterBuild)},
		{id: "contains-hit", title: "Contains, key of the filter", allocs: true, start: filters(filterHit)},
		{id: "contains-miss", title: "Contains, absent key", allocs: true, start: filters(filterMiss)},
	}
}

func blocks(c engine.Counts) int64 { return c.Blocks }

// bitsWorks are done with filters of so many bits per key, or without filters.
func bitsWorks(bits int) []work {
	get := work{id: GetAbsentCold, title: fmt.Sprintf("%d bits per key", bits), x: float64(bits), start: get(engine.Cold, false)}
	if bits > 0 {
		return []work{get}
	}
	get.title = "No filter"
	return []work{get, {id: ReadsAbsent, title: "Reads, no filter", unit: PerLookup, once: true, start: counting(false, blocks)}}
}

// plan returns all groups. Their data are made when they are asked for.
func plan(o Options) []group {
	w1 := sync.OnceValue(func() *data { return newData(workload.W1(o.Entries)) })
	groups := []group{
		{id: Usual, section: SectionSnappy, data: w1, options: engine.Options{BitsPerKey: UsualBits, Snappy: true}, tables: true, works: append(w1Works(), countedWorks()...)},
		{id: "W1-raw", section: SectionRaw, data: w1, options: engine.Options{BitsPerKey: UsualBits}, tables: true, works: w1Works()},
		{id: "filters", section: SectionFilters, data: w1, options: engine.Options{BitsPerKey: UsualBits}, works: filterWorks()},
	}
	groups = append(groups, bitsGroups(w1)...)
	for _, n := range urlSizes(o.URLs) {
		groups = append(groups, group{
			id: fmt.Sprintf("W3-%d", n), section: SectionURLs, tables: true,
			data:    func() *data { return newData(workload.W3(n)) },
			options: engine.Options{BitsPerKey: UsualBits, Snappy: true},
			only:    []string{"sievetable", "sievetable, table filter", "goleveldb with cache", "Pebble iterator", "C++ LevelDB", "RocksDB", "RocksDB with assertions"},
			works:   []work{{id: GetAbsentWarm, title: fmt.Sprintf("%d entries", n), x: float64(n), start: get(engine.Warm, false)}},
		})
	}
	return groups
}

// bitsGroups are of SectionBits. Without a filter, that of the table is no other engine.
func bitsGroups(w1 func() *data) (groups []group) {
	for _, bits := range []int{0, 4, 6, 8, 12, 16, 20} {
		only := []string{"sievetable", "goleveldb"}
		if bits > 0 {
			only = append(only, "sievetable, table filter")
		}
		groups = append(groups, group{
			id: fmt.Sprintf("bits-%d", bits), section: SectionBits, data: w1, tables: true,
			options: engine.Options{BitsPerKey: bits, Snappy: true},
			only:    only,
			works:   bitsWorks(bits),
		})
	}
	return groups
}

// urlSizes are the powers of ten from 10,000 to the largest, and that.
func urlSizes(largest int) []int {
	var sizes []int
	for n := 10_000; n < largest; n *= 10 {
		sizes = append(sizes, n)
	}
	if largest > 0 {
		sizes = append(sizes, largest)
	}
	return sizes
}

// wanted returns the group with the works that o asks for.
func (g group) wanted(o Options) group {
	g.works = slices.DeleteFunc(slices.Clone(g.works), func(w work) bool { return !o.Run.MatchString(g.rowID(w)) })
	return g
}

func (g *group) rowID(w work) string { return g.id + "/" + w.id }

func (g *group) has(c Column) bool { return g.only == nil || slices.Contains(g.only, c.Name) }
