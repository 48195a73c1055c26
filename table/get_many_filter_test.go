package table_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

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
			var counts [2]table.MetricsSnapshot
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
				counts[many] = m.Snapshot()
			}
			if asked[0][1] != 0 || asked[1][1] != len(keys) || asked[1][0] > 8 { // the table's first keys
				t.Errorf("asked one by one and in batches: %d by Get, %d by GetMany, for %d keys", asked[0], asked[1], len(keys))
			}
			if diff := cmp.Diff(filterCounts(counts[0]), filterCounts(counts[1])); diff != "" {
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
func filterCounts(m table.MetricsSnapshot) string {
	return fmt.Sprintf("%d lookups, %d checks, %d negatives, %d of the table, %d false positives",
		m.Lookups, m.FilterChecks, m.FilterNegatives, m.TableFilterNegatives, m.FilterFalsePositives)
}
