package table_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// openTables opens 4 tables of 100 keys each. It returns their stores, all keys, and the parts for GetMany.
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

// At most Concurrency reads of all tables run at a time, and exactly as many if there are enough.
func TestGetManyOfSeveralTables(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stores, keys, parts := openTables(t)
		var want []int
		for i := range parts { // keys 0, 10, 20 …
			stores[i].latency = time.Second
			parts[i].Keys = nil
			for j := 0; j < 100; j += 10 {
				parts[i].Keys = append(parts[i].Keys, 100*i+j)
			}
			want = append(want, parts[i].Keys...)
		}
		start := time.Now()
		found, err := foundBy(t.Context(), keys, parts, &table.GetManyOptions{Concurrency: 20})
		noError(t, err)
		checkDiff(t, "found", want, found)
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("40 reads of a second took %v, want 2 s with 20 at a time", took)
		}
	})
}

// spoil closes some tables, and makes reads of others fail. It returns the possible results for each key.
func spoil(t *testing.T, rng *rand.Rand, stores []*store, keys [][]byte, parts []table.GetManyPart) (may [][]string) {
	t.Helper()
	for i, part := range parts {
		keys[i*100+rng.IntN(100)] = []byte("absent")
		stores[i].bad, stores[i].err = rng.IntN(4)*1000, errBroken
		isClosed := rng.IntN(6) == 0
		for _, k := range part.Keys {
			answers := []string{"found"}
			if string(keys[k]) == "absent" {
				answers = []string{""}
			}
			switch {
			case isClosed:
				answers = []string{table.ErrClosed.Error()}
			case stores[i].bad > 0:
				answers = append(answers, errBroken.Error()) // an I/O error ends the lookups in its table
			}
			may = append(may, answers)
		}
		if isClosed {
			noError(t, part.Reader.Close())
		}
	}
	return may
}

// Each key is found, is absent, or fails because of its own table, whatever fails and in whatever order the reads
// end.
func TestGetManyTellsNoAnswerFromAbsent(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(28, 14))
	for round := range 60 {
		stores, keys, parts := openTables(t)
		may := spoil(t, rng, stores, keys, parts)
		got := make([]string, len(keys))
		o := &table.GetManyOptions{Concurrency: 1 + rng.IntN(8), Gap: rng.IntN(3) * 100}
		reasons := []error{table.ErrClosed, errBroken}
		o.NoAnswer = func(i int, err error) {
			for _, reason := range reasons {
				if errors.Is(err, reason) {
					got[i] += reason.Error()
				}
			}
		}
		err := table.GetMany(t.Context(), keys, parts, o, func(i int, value []byte) error {
			got[i] += "found"
			return nil
		})
		for i, outcome := range got {
			if !slices.Contains(may[i], outcome) {
				t.Fatalf("round %d: key %d, %q: %q, want one of %q", round, i, keys[i], outcome, may[i])
			}
		}
		for _, reason := range reasons {
			if errors.Is(err, reason) != slices.Contains(got, reason.Error()) {
				t.Errorf("round %d: GetMany = %v, which is %v for some keys: %v", round, err, reason, !errors.Is(err, reason))
			}
		}
	}
}

// An invalid part is an error before anything is read.
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

// The context of an Iter interrupts its reads, with or without ReadAhead, and errors have the table's name.
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

// GetMany does not open a table without keys, or if ctx is done.
func TestGetManyOpensNoTableWithoutNeed(t *testing.T) {
	t.Parallel()
	r, _ := openFaulty(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx  context.Context
		keys []int
		want error
	}{
		{t.Context(), []int{}, nil},
		{done, nil, context.Canceled},
		{t.Context(), nil, errBroken},
	} {
		_, err := foundBy(tt.ctx, [][]byte{[]byte("key000050")}, []table.GetManyPart{{Reader: r, Keys: tt.keys}}, nil)
		if !errors.Is(err, tt.want) {
			t.Errorf("GetMany of keys %v: %v, want %v", tt.keys, err, tt.want)
		}
	}
}

// A batchPolicy is a TableBloom that counts the keys checked in its filters.
type batchPolicy struct {
	filter.TableBloom
	asked *[2]int // one by one, in batches
}

func (p batchPolicy) Open(contents []byte) (filter.TableFilter, error) {
	f, err := p.TableBloom.Open(contents)
	return countingFilter{f, p.asked}, err
}

type countingFilter struct {
	filter.TableFilter
	asked *[2]int
}

func (f countingFilter) Contains(key []byte) bool {
	f.asked[0]++
	return f.TableFilter.Contains(key)
}

func (f countingFilter) ContainsMany(keys [][]byte, results []bool) {
	f.asked[1] += len(keys)
	f.TableFilter.(interface {
		ContainsMany(keys [][]byte, results []bool)
	}).ContainsMany(keys, results)
}

// GetMany checks keys in the table filter in batches, and counts the same as Get.
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
		var counts [2]string
		var asked [2][2]int
		keys := someKeys(rand.New(rand.NewPCG(29, 1)), pairs)
		for i, look := range []func(r *table.Reader){
			func(r *table.Reader) { getAll(t, r, keys) },
			func(r *table.Reader) { noError(t, errorOf(getMany(r, keys, nil))) },
		} {
			var m table.Metrics
			r := open(t, contents, &table.ReaderOptions{FilterKey: filterKey, Metrics: &m,
				TableFilterPolicies: []filter.TablePolicy{batchPolicy{asked: &asked[i]}}})
			look(r)
			counts[i] = filterCounts(&m)
		}
		if asked[0][1] != 0 || asked[1][1] != len(keys) || asked[1][0] > 8 { // the table's first keys
			t.Errorf("%s: asked one by one and in batches: %d, of %d keys", name, asked, len(keys))
		}
		checkDiff(t, name+": GetMany counts, not as Get", counts[0], counts[1])
	}
}

func getAll(t *testing.T, r *table.Reader, keys [][]byte) {
	t.Helper()
	for _, key := range keys {
		if _, err := r.Get(key); err != nil && err != table.ErrNotFound {
			t.Fatal(err)
		}
	}
}

// filterCounts returns the counts of lookups and filter checks.
func filterCounts(m *table.Metrics) string {
	return fmt.Sprintf("%d lookups, %d checks, %d negatives, %d of the table, %d false positives",
		m.Lookups.Load(), m.FilterChecks.Load(), m.FilterNegatives.Load(), m.TableFilterNegatives.Load(), m.FilterFalsePositives.Load())
}
