package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
)

var noError = errtest.NoError

// usual returns a Query with the flags' defaults.
func usual(keys uint64, rate float64) Query {
	return Query{Keys: keys, Rate: rate, KeySize: 16, Compression: 1, BlockSize: 4096, TableSize: 64e6}
}

// blocklist returns a Query for 100,000 URLs at 0.01 % within 300 KB.
func blocklist() Query {
	q := usual(1e5, 1e-4)
	q.KeySize, q.Memory = 64, 300e3
	return q
}

func makePlan(t *testing.T, q Query) *Plan {
	t.Helper()
	p, err := New(q, func() {})
	noError(t, err)
	return p
}

func TestText(t *testing.T) {
	long.Test(t)
	t.Parallel()
	var text bytes.Buffer
	noError(t, makePlan(t, blocklist()).WriteText(&text))
	golden.Text(t, "blocklist.txt", text.String())
}

// The last lines say what to build, or that no filter meets the goal.
func TestVerdict(t *testing.T) {
	t.Parallel()
	q := usual(1000, 0.01)
	o := q.option(newDesign(10, tableFilter{}, 4096))
	fits, alone := o, q.option(newDesign(0, tableFilter{fuseBits: 8}, 0))
	o.MeetsMemory = false
	const build = "bloom:10, 2.2 kB in 1 table of 1,000 keys:\n  sst build --bits 10 --block-size 4KiB --input-format raw-keys --on-duplicate first -o OUT INPUT\n"
	for _, tt := range []struct {
		plan Plan
		want string
	}{
		{Plan{Query: q}, "No filter reaches 1 %.\n"},
		{Plan{Query: q, Best: &fits, BestWithData: &fits}, "Least memory: " + build},
		{Plan{Query: q, Best: &o, BestWithData: &o}, "Nothing meets the goal on one machine.\nLeast memory: " + build},
		{Plan{Query: Query{BitsPerKey: 10}, Best: &o, BestWithData: &o}, "No filter of this size fits on one machine.\nLowest rate in about 10 bits per key: " + build},
		{Plan{Query: q, Best: &alone, BestWithData: &fits}, "Least memory: fuse:8, 2.2 kB in 1 table of 1,000 keys:\n" +
			"  sst build --filter-only --table-filter fuse:8 --input-format raw-keys -o OUT INPUT\nLeast memory with keys and values: " + build},
	} {
		var out bytes.Buffer
		tt.plan.writeVerdict(&out)
		if diff := cmp.Diff(tt.want, out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestJSON(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	p := makePlan(t, usual(1000, 0.01))
	var out bytes.Buffer
	noError(t, printable.WriteJSON(&out, p))
	var got Plan
	noError(t, json.Unmarshal(out.Bytes(), &got))
	if diff := cmp.Diff(p, &got, cmpopts.IgnoreUnexported(Design{})); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// best chooses among the Options that meet the Query, or the best of the others.
func TestBest(t *testing.T) {
	t.Parallel()
	small := Option{Design: Design{TableFilter: "small"}, MemoryBytes: 1, Chosen: true, MeetsMemory: true}
	large := Option{Design: Design{TableFilter: "large"}, MemoryBytes: 3, Chosen: true, MeetsRate: true}
	fits := Option{Design: Design{TableFilter: "fits"}, MemoryBytes: 4, Chosen: true, MeetsRate: true, MeetsMemory: true}
	extra := Option{Design: Design{TableFilter: "extra"}, MemoryBytes: 2, MeetsRate: true, MeetsMemory: true}
	precise := Option{Design: Design{TableFilter: "precise"}, MemoryBytes: 5, Chosen: true, MeetsRate: true, MeetsMemory: true, Measurement: newMeasurement([]int{10}, 100, 1)}
	rough := precise
	rough.TableFilter, rough.Measurement = "rough", newMeasurement([]int{20}, 100, 1)
	for _, tt := range []struct {
		name    string
		rate    float64
		options []Option
		want    string
	}{
		{"least memory of those that meet it", 0.01, []Option{small, large, fits, extra, precise}, "fits"},
		{"no memory fits", 0.01, []Option{small, large}, "large"},
		{"no rate is low enough", 0.01, []Option{small}, ""},
		{"by bits, the lowest rate", 0, []Option{rough, precise, rough}, "precise"},
	} {
		got := ""
		if best := (Query{Rate: tt.rate}).best(tt.options); best != nil {
			got = best.TableFilter
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A plan does not promise a rate that no filter reaches, or that cannot be measured.
func TestNoFiltersReachIt(t *testing.T) {
	long.Test(t)
	t.Parallel()
	p := makePlan(t, usual(1000, 1e-8))
	if p.Best != nil || p.BestWithData != nil || len(p.LargerBlocks) > 0 {
		t.Errorf("best is %+v, larger blocks are %+v, want none", p.Best, p.LargerBlocks)
	}
	for _, o := range slices.Concat(p.WithData, p.FilterOnly) {
		if o.MeetsRate {
			t.Errorf("%s is said to reach 1e-8", o.filters())
		}
	}
}

// Larger blocks change the memory, and the rates of block filters.
func TestLargerBlocks(t *testing.T) {
	long.Test(t)
	t.Parallel()
	q := blocklist()
	for _, find := range []finder{findBloom, findBoth} {
		o, larger, err := q.findWithLarger(find)
		if err != nil || larger == nil {
			t.Fatalf("larger blocks: %v, %v", larger, err)
		}
		if o.meets() || !larger.meets() || larger.BlockSize <= q.BlockSize {
			t.Errorf("%s with blocks of %d instead of %d: meets it %t instead of %t", o.filters(), larger.BlockSize, o.BlockSize, larger.meets(), o.meets())
		}
		q.BlockSize = larger.BlockSize / 2
		if smaller, err := find(q); err != nil || smaller.meets() {
			t.Errorf("%s with blocks of %d meets it too: %v", o.filters(), q.BlockSize, err)
		}
		q.BlockSize = 4096
	}
}

// If larger blocks reach the rate but need too much memory, the ones with the least memory are shown.
func TestLargerBlocksThatDoNotFit(t *testing.T) {
	long.Test(t)
	t.Parallel()
	q := usual(1e4, 1e-4)
	q.KeySize, q.Memory = 2000, 10e3
	o, larger, err := q.findWithLarger(findBloom)
	if err != nil || larger == nil {
		t.Fatalf("larger blocks: %v, %v", larger, err)
	}
	if o.MeetsRate || !larger.MeetsRate || larger.MeetsMemory || larger.BlockSize != maxBlockSize {
		t.Errorf("%s with blocks of %d instead of %d: %s instead of %s", larger.filters(), larger.BlockSize, o.BlockSize, larger.verdict(), o.verdict())
	}
}

func TestMachines(t *testing.T) {
	t.Parallel()
	q := usual(1e9, 0.01)
	for _, tt := range []struct {
		memory   uint64
		machines float64
	}{{1e12, 1}, {3e9, 1}, {1e9, 2}, {400e6, 4}, {1e6, 0}} {
		q.Memory = tt.memory
		o := q.option(newDesign(10, tableFilter{}, q.BlockSize))
		if o.Machines != tt.machines || o.MeetsMemory != (tt.machines == 1) {
			t.Errorf("%s of %s: %g machines, want %g", size(float64(tt.memory)), size(o.MemoryBytes), o.Machines, tt.machines)
		}
		if o.TablesPerMachine*o.MemoryPerTable > float64(q.Memory) || o.Machines > 0 && o.TablesPerMachine*o.Machines < o.Tables {
			t.Errorf("%g tables of %g bytes on a machine of %d, want room for them and for all %g", o.TablesPerMachine, o.MemoryPerTable, q.Memory, o.Tables)
		}
	}
}

// The rate of table-bloom grows with the number of keys in a filter: a plan has a note if the measured filters
// had too few.
func TestSampleTooSmallForTableBloom(t *testing.T) {
	t.Parallel()
	const note = "Too few for table-bloom: its rates were measured in filters of 1,000 keys"
	for _, tt := range []struct {
		filter   tableFilter
		measured int
		want     bool
	}{
		{tableFilter{bloomBits: 10}, 1000, true},
		{tableFilter{bloomBits: 10}, 600_000, false},
		{tableFilter{fuseBits: 8}, 1000, false},
	} {
		q := usual(1e6, 0)
		o := q.option(newDesign(0, tt.filter, q.BlockSize))
		o.MeasuredKeys = tt.measured
		q.Sample = &KeySample{Keys: 1e6}
		p := Plan{Query: q, WithData: []Option{o}}
		if got := strings.Contains(p.basis(), note); got != tt.want {
			t.Errorf("%v, %d keys: the note is there: %t, want %t", tt.filter, tt.measured, got, tt.want)
		}
	}
}
