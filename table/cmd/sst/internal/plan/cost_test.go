package plan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A store has tables in memory, and counts the requests.
type store struct {
	tables   map[string][]byte
	requests atomic.Int64
}

func (s *store) ReadAt(_ context.Context, name string, p []byte, off int64) (int, error) {
	s.requests.Add(1)
	return bytes.NewReader(s.tables[name]).ReadAt(p, off)
}

// writeSet writes tables of the Design with so many keys each.
func (s *store) writeSet(t *testing.T, d Design, keys [][]byte, perTable int) *set.Manifest {
	t.Helper()
	m, value := new(set.Manifest), make([]byte, 100)
	if d.FilterOnly {
		value = nil
	}
	for part := range slices.Chunk(keys, perTable) {
		var file bytes.Buffer
		w, err := set.NewTableWriter(&file, d.writerOptions())
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range part {
			if err := w.Append(key, value); err != nil {
				t.Fatal(err)
			}
		}
		line, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		line.Name = fmt.Sprintf("%d.ldb", len(m.Tables))
		m.Tables, s.tables[line.Name] = append(m.Tables, line), file.Bytes()
	}
	return m
}

// A set asks its Source for what is planned, when it is opened and by lookups.
func TestRequestsAreThoseOfASet(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const n, perTable, absent = 40_000, 10_000, 160_000
	for _, d := range []Design{
		newDesign(6, tableFilter{}, 4096),
		newDesign(3, tableFilter{bloomBits: 4}, 4096),
		newDesign(0, tableFilter{fuseBits: 8}, 4096),
		newDesign(0, tableFilter{fuseBits: 4}, 0),
	} {
		q := usual(n, 0)
		q.BitsPerKey, q.ValueSize, q.EntriesPerTable, q.Present = 1, 100, perTable, float64(n)/(n+absent)
		o := q.option(d)
		o.MeasuredRate = o.predict() // which is near: see TestMeasuredIsWhatTablesMeasure
		src, keys, want := store{tables: map[string][]byte{}}, sortedKeys(n), q.costs(o)
		s, err := set.Open(t.Context(), src.writeSet(t, d, keys, perTable), &src, &set.Options{
			OpenAll: true,
			Reader:  table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{fuse.Policy{}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := float64(src.requests.Load()); got != want.OpenRequests {
			t.Errorf("%s: opened by %g requests, want %g", o.filters(), got, want.OpenRequests)
		}
		src.requests.Store(0)
		random := newRandomKeys()
		for range n + absent { // the first n are the keys
			if _, err := s.Get(t.Context(), random.next()); err != nil && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, table.ErrFilterOnly) {
				t.Fatal(err)
			}
		}
		got := float64(src.requests.Load()) / (n + absent) * billion
		chance := 3 * math.Sqrt(o.countedRate()/absent) // three standard deviations
		if d.FilterOnly && got != 0 || math.Abs(got-want.LookupRequests) > billion*(chance+0.15*o.MeasuredRate) {
			t.Errorf("%s: %g requests for 10⁹ lookups, want %g", o.filters(), got, want.LookupRequests)
		}
	}
}

// Requests, bytes, core-hours and prices are counted as they are described.
func TestCosts(t *testing.T) {
	t.Parallel()
	ptr := func(x float64) *float64 { return &x }
	measured := Measurement{MeasuredRate: 0.01, Band: 0.001}
	bound := Measurement{MeasuredRate: 0, Band: 3e-7}
	q := Query{Keys: 3600e6, KeySize: 80, ValueSize: 20}
	for _, tt := range []struct {
		name       string
		measured   Measurement
		filterOnly bool
		present    float64
		prices     Prices
		want       Costs
	}{
		{"absent keys", measured, false, 0, Prices{}, Costs{LookupRequests: 1e7, LookupBytes: 2e10, LookupHours: (1000 + 3500 + 20) / 3600.0}},
		{"some present", measured, false, 0.5, Prices{}, Costs{LookupRequests: 5.05e8, LookupBytes: 1.01e12, LookupHours: (1000 + 176_750 + 1010) / 3600.0}},
		{"a bound", bound, false, 0, Prices{Request: ptr(1000)}, Costs{
			BuildPrice: ptr(10), OpenPrice: ptr(10), LookupRequests: 300, LookupBytes: 6e5, LookupHours: 1000.1056 / 3600, LookupPrice: ptr(0.3),
		}},
		{"writes", measured, true, 1, Prices{Put: ptr(5)}, Costs{BuildPrice: ptr(0.050005), LookupHours: 1000 / 3600.0}},
		{"storage", measured, true, 1, Prices{Storage: ptr(0.02)}, Costs{StoragePrice: ptr(2), LookupHours: 1000 / 3600.0}},
	} {
		q.Present, q.Prices = tt.present, tt.prices
		o := Option{Tables: 10_000, Measurement: tt.measured, Design: Design{FilterOnly: tt.filterOnly}, DiskBytes: 100e9, DataBytes: 90e9, StoredBlock: 2000, MemoryBytes: 11e9}
		tt.want.SortedHours, tt.want.UnsortedHours = q.buildSeconds(o.Design)/3600, (q.buildSeconds(o.Design)+q.sortSeconds())/3600
		tt.want.PutRequests, tt.want.SwapMemory = 10_001, 22e9
		tt.want.OpenRequests, tt.want.OpenBytes, tt.want.OpenHours = 10_000, 10e9, 28.5/3600
		if diff := gocmp.Diff(tt.want, q.costs(o), near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A price adds up those that are known.
func TestPricesAddUp(t *testing.T) {
	t.Parallel()
	one, two, none := 1.0, 2.0, 0.0
	for _, tt := range []struct {
		prices []*float64
		want   *float64
	}{{nil, nil}, {[]*float64{nil, nil}, nil}, {[]*float64{nil, &one}, &one}, {[]*float64{&none}, &none}, {[]*float64{&one, nil, &one}, &two}} {
		if diff := gocmp.Diff(tt.want, sum(tt.prices...)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// A large table is sent in parts.
func TestPutsOf(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[float64]float64{1: 1, 16 << 20: 1, 16<<20 + 1: 5, 64e6: 10} {
		if got := putsOf(bytes); got != want {
			t.Errorf("%.0f bytes: %g requests, want %g", bytes, got, want)
		}
	}
}

// near is for computed numbers.
var near = gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(a, b) })

// At the ends of what can be asked, costs are numbers, in lines that a terminal has.
func TestCostsOfExtremes(t *testing.T) {
	t.Parallel()
	none, highest := 0.0, float64(maxPrice)
	for _, keys := range []uint64{1, MaxKeys} {
		for _, present := range []float64{0, 1e-300, 1} {
			for _, price := range []*float64{nil, &none, &highest} {
				q := usual(keys, minRate)
				q.Present, q.Prices, q.EntriesPerTable = present, Prices{price, price, price, price}, 1
				p := &Plan{Query: q}
				for _, d := range designs() {
					o := q.option(d)
					o.Chosen, o.Measurement = true, newMeasurement(nil, maxLookups, 1)
					p.WithData = append(p.WithData, o)
				}
				p.countCosts()
				checkCosts(t, p)
			}
		}
	}
}

func checkCosts(t *testing.T, p *Plan) {
	t.Helper()
	if err := json.NewEncoder(io.Discard).Encode(p); err != nil { // as for NaN and infinity
		t.Error(err)
	}
	var out bytes.Buffer
	p.writeCosts(&out)
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line); n > 101 || strings.Contains(line, "%!") {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	for _, o := range p.WithData {
		if least := cmp.Or(p.Present, 3.0/maxLookups) * billion; !o.FilterOnly && (o.LookupRequests < least || o.LookupRequests > billion) {
			t.Errorf("%s: %g requests for 10⁹ lookups with %g present, want %g to 10⁹", o.filters(), o.LookupRequests, p.Present, least)
		}
	}
}

// All of a plan has its costs, with the prices that are given.
func TestPlanHasCosts(t *testing.T) {
	long.Test(t)
	t.Parallel()
	q := blacklist()
	price := 0.4
	q.Request, q.Present = &price, 0.5
	p := makePlan(t, q)
	for _, o := range slices.Concat(p.WithData, p.LargerBlocks, p.FilterOnly, []Option{*p.Best, *p.BestWithData}) {
		if diff := gocmp.Diff(q.costs(o), o.Costs); diff != "" || o.OpenRequests == 0 || o.OpenPrice == nil {
			t.Errorf("%s, filter only %t: %+v (-want +got):\n%s", o.filters(), o.FilterOnly, o.Costs, diff)
		}
	}
	if p.BeamHours == 0 || p.BeamPrice != nil {
		t.Errorf("table/beam takes %g hours with price %v, want hours and no price", p.BeamHours, p.BeamPrice)
	}
}
