package table_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// openTables returns 4 tables of 100 keys each, where they are, all keys, and what to ask each
// table for.
func openTables(t *testing.T) (stores []*store, keys [][]byte, parts []table.GetManyPart) {
	all := numbered(400)
	for first := 0; first < len(all); first += 100 {
		o := &table.ReaderOptions{Name: fmt.Sprintf("table %d", first/100)}
		r, s := openStore(t, build(t, oneKeyBlocks, all[first:first+100]), o)
		part := table.GetManyPart{Reader: r}
		for i := first; i < first+100; i++ {
			keys, part.Keys = append(keys, all[i].Key), append(part.Keys, i)
		}
		stores, parts = append(stores, s), append(parts, part)
	}
	return stores, keys, parts
}

// foundBy returns which keys GetMany finds.
func foundBy(ctx context.Context, keys [][]byte, parts []table.GetManyPart, o *table.GetManyOptions) (found []int, err error) {
	err = table.GetMany(ctx, keys, parts, o, func(i int, _ []byte) error {
		found = append(found, i)
		return nil
	})
	slices.Sort(found)
	return found, err
}

// The reads of all tables together are at most Concurrency at a time, and as many if they can.
func TestGetManyOfSeveralTables(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stores, keys, parts := openTables(t)
		for _, s := range stores {
			s.latency = time.Second
		}
		for i := range parts { // keys 0, 10, 20 …
			var some []int
			for j := 0; j < 100; j += 10 {
				some = append(some, parts[i].Keys[j])
			}
			parts[i].Keys = some
		}
		start := time.Now()
		found, err := foundBy(t.Context(), keys, parts, &table.GetManyOptions{Concurrency: 20})
		var want []int
		for i := 0; i < 400; i += 10 {
			want = append(want, i)
		}
		if diff := cmp.Diff(want, found); diff != "" || err != nil {
			t.Errorf("GetMany = %v (-want +got):\n%s", err, diff)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("40 reads of a second took %v, want 2 s with 20 at a time", took)
		}
	})
}

// An error of one table leaves the keys of the others as they are.
func TestGetManyWithOneBadTable(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*store, *table.Reader) error{
		"closed":    func(_ *store, r *table.Reader) error { r.Close(); return table.ErrClosed },
		"truncated": func(s *store, _ *table.Reader) error { s.contents = nil; return io.ErrUnexpectedEOF },
	} {
		stores, keys, parts := openTables(t)
		want := spoil(stores[1], parts[1].Reader)
		found, err := foundBy(t.Context(), keys, parts, nil)
		if !errors.Is(err, want) || len(found) != 300 || slices.Contains(found, 150) {
			t.Errorf("%s: GetMany = %v, with %d keys found; want %v, and the 300 of the other tables", name, err, len(found), want)
		}
	}
}

// Each key is found, absent, or without an answer, whatever fails and in whatever order the reads
// end.
func TestGetManyTellsNoAnswerFromAbsent(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(28, 14))
	seen := map[string]int{}
	for round := range 60 {
		stores, keys, parts := openTables(t)
		broken := errors.New("broken")
		for i := range parts {
			switch stores[i].bad = rng.IntN(4) * 1000; rng.IntN(6) {
			case 0:
				parts[i].Reader.Close()
			case 1:
				keys[i*100+rng.IntN(100)] = []byte("absent")
			}
			stores[i].err = broken
		}
		got := make([]string, len(keys))
		o := &table.GetManyOptions{Concurrency: 1 + rng.IntN(8), Gap: rng.IntN(3) * 100}
		o.NoAnswer = func(i int, err error) { got[i] += "no answer" }
		err := table.GetMany(t.Context(), keys, parts, o, func(i int, value []byte) error {
			got[i] += "found"
			return nil
		})
		failed := false
		for i, outcome := range got {
			seen[outcome]++
			failed = failed || outcome == "no answer"
			if absent := string(keys[i]) == "absent"; outcome != "no answer" && outcome != map[bool]string{true: "", false: "found"}[absent] {
				t.Fatalf("round %d: key %d, %q: %q", round, i, keys[i], outcome)
			}
		}
		if failed != (err != nil) {
			t.Errorf("round %d: keys without an answer: %v, GetMany = %v", round, failed, err)
		}
	}
	if seen["found"] < 100 || seen["no answer"] < 100 || seen[""] == 0 {
		t.Errorf("outcomes %v, want many of each", seen)
	}
}

// A part that asks for nothing sensible is an error before anything is read.
func TestGetManyOfBadParts(t *testing.T) {
	t.Parallel()
	stores, keys, parts := openTables(t)
	for want, bad := range map[string]table.GetManyPart{
		"no Reader":         {},
		"key number 400":    {Reader: parts[0].Reader, Keys: []int{400}},
		"key number -1, no": {Reader: parts[0].Reader, Keys: []int{-1}},
	} {
		found, err := foundBy(t.Context(), keys, append(slices.Clip(parts), bad), nil)
		if err == nil || !strings.Contains(err.Error(), want) || found != nil || len(stores[0].reads) > 0 {
			t.Errorf("GetMany = %v, with %d keys found; want an error with %q", err, len(found), want)
		}
	}
}

// The context of an Iter ends its reads, ahead or not, and errors have the table's name.
func TestIterContext(t *testing.T) {
	t.Parallel()
	for _, ahead := range []int{0, 500} {
		synctest.Test(t, func(t *testing.T) { // so that the read begins before the context ends
			stores, _, parts := openTables(t)
			ctx, cancel := context.WithCancel(t.Context())
			it := parts[2].Reader.With(ctx).NewIter(&table.IterOptions{ReadAhead: ahead})
			if !it.First() {
				t.Fatal(it.Error())
			}
			stores[2].latency = time.Hour
			time.AfterFunc(time.Millisecond, cancel)
			start := time.Now()
			if it.Last() || !errors.Is(it.Error(), context.Canceled) || time.Since(start) != time.Millisecond {
				t.Errorf("Last = %v after %v, want context.Canceled after 1 ms", it.Error(), time.Since(start))
			}
			stores[2].contents[0] ^= 1
			stores[2].latency = 0
			it = parts[2].Reader.NewIter(nil)
			if it.First() || !strings.Contains(it.Error().Error(), "table 2: data block at 0") {
				t.Errorf("First = %v, want an error that names the table", it.Error())
			}
		})
	}
}

// GetMany opens no table if it is asked for no key, or ctx is done.
func TestGetManyOpensNoTableWithoutNeed(t *testing.T) {
	t.Parallel()
	r, _ := openFaulty(t)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	keys := [][]byte{[]byte("key000050")}
	found := func(int, []byte) error { return nil }
	for _, tt := range []struct {
		ctx  context.Context
		keys []int
		want error
	}{
		{context.Background(), []int{}, nil},
		{done, nil, context.Canceled},
		{context.Background(), nil, errBroken},
	} {
		err := table.GetMany(tt.ctx, keys, []table.GetManyPart{{Reader: r, Keys: tt.keys}}, nil, found)
		if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("GetMany of keys %v: %v, want %v", tt.keys, err, tt.want)
		}
	}
}

// A batchPolicy is a TableBloom that counts the keys that its filters are asked for.
type batchPolicy struct {
	filter.TableBloom
	asked *[2]int // one by one, in batches
}

func (p batchPolicy) Open(contents []byte) (filter.TableFilter, error) {
	f, err := p.TableBloom.Open(contents)
	if err != nil {
		return nil, err
	}
	return countingFilter{f.(manyFilter), p.asked}, nil
}

// A manyFilter is a TableFilter with the optional method ContainsMany.
type manyFilter interface {
	filter.TableFilter
	ContainsMany(keys [][]byte, results []bool)
}

type countingFilter struct {
	manyFilter
	asked *[2]int
}

func (f countingFilter) Contains(key []byte) bool {
	f.asked[0]++
	return f.manyFilter.Contains(key)
}

func (f countingFilter) ContainsMany(keys [][]byte, results []bool) {
	f.asked[1] += len(keys)
	f.manyFilter.ContainsMany(keys, results)
}

// GetMany asks the table filter for batches of keys, and counts what Get counts.
func TestGetManyAsksTheTableFilterForBatches(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	contents := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, pairs)
	for name, filterKey := range map[string]func(key []byte) []byte{
		"whole keys": nil,
		"no filter key for some": func(key []byte) []byte {
			if len(key)%2 == 0 {
				return nil
			}
			return key
		},
	} {
		t.Run(name, func(t *testing.T) {
			var counts [2]string
			var asked [2][2]int
			keys := someKeys(rand.New(rand.NewPCG(29, 1)), pairs)
			for many := range counts {
				var m table.Metrics
				r, _ := openStore(t, contents, &table.ReaderOptions{FilterKey: filterKey, Metrics: &m,
					TableFilterPolicies: []filter.TablePolicy{batchPolicy{asked: &asked[many]}}})
				if many == 1 {
					if _, err := getMany(r, keys, nil); err != nil {
						t.Fatal(err)
					}
				} else {
					getAll(t, r, keys)
				}
				counts[many] = filterCounts(&m)
			}
			if asked[0][1] != 0 || asked[1][1] != len(keys) || asked[1][0] > 8 { // the table's first keys
				t.Errorf("asked one by one and in batches: %d by Get, %d by GetMany, for %d keys", asked[0], asked[1], len(keys))
			}
			if diff := cmp.Diff(counts[0], counts[1]); diff != "" {
				t.Errorf("counted (-Get +GetMany):\n%s", diff)
			}
		})
	}
}

// getAll gets the keys one by one.
func getAll(t *testing.T, r *table.Reader, keys [][]byte) {
	t.Helper()
	for _, key := range keys {
		if _, err := r.Get(key); err != nil && err != table.ErrNotFound {
			t.Fatal(err)
		}
	}
}

// filterCounts returns what is counted of lookups and filters.
func filterCounts(m *table.Metrics) string {
	return fmt.Sprintf("%d lookups, %d checks, %d negatives, %d of the table, %d false positives",
		m.Lookups.Load(), m.FilterChecks.Load(), m.FilterNegatives.Load(), m.TableFilterNegatives.Load(), m.FilterFalsePositives.Load())
}
