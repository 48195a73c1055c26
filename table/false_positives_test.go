package table_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Every lookup reports a key if and only if it has searched a data block because of a false positive. It reports no
// user key that the table has at another sequence number, and no key if the filters are ignored.
func TestOnFalsePositive(t *testing.T) {
	t.Parallel()
	reported := 0
	for seed := range uint64(400) {
		c := randomNever(seed)
		if c.o.FilterOnly {
			continue
		}
		rng := rand.New(rand.NewPCG(25, seed))
		var got []string
		c.r.OnFalsePositive = func(filterKey []byte) { got = append(got, string(filterKey)) }
		if rng.IntN(2) == 0 {
			c.r.Cache = table.NewCache(1 << 20)
		}
		c.r.IgnoreFilter = seed%5 == 0
		r := c.open(t, &c.o)
		users := map[string]bool{}
		for _, p := range c.pairs {
			users[string(c.user(p.Key))] = true
		}
		keys := slices.Concat(c.never, c.others)
		if c.internal { // the table's keys too, at another sequence number
			for _, p := range c.pairs {
				keys = append(keys, p.Key)
			}
			for i, key := range keys {
				keys[i] = internalkey.SearchKey(nil, c.user(key), rng.Uint64N(12))
			}
		}
		var want []string
		for _, key := range keys {
			if user := c.user(key); !c.r.IgnoreFilter && !users[string(user)] && mayContain(r, key) {
				want = append(want, string(user))
			}
		}
		slices.Sort(want)
		for _, way := range []string{"Get", "Find", "GetMany"} {
			before := c.r.Metrics.FilterFalsePositives.Load()
			got = nil
			if way == "GetMany" {
				noError(t, errorOf(getMany(r, keys, &table.GetManyOptions{Gap: rng.IntN(5000)})))
			} else {
				for _, key := range keys {
					lookups[way](r, key)
				}
			}
			slices.Sort(got)
			checkDiff(t, c.description+": "+way, want, got)
			if n := int(c.r.Metrics.FilterFalsePositives.Load() - before); n < len(got) || !c.internal && n > len(got) {
				t.Errorf("%s: %s: %d false positives are counted, and %d reported", c.description, way, n, len(got))
			}
			reported += len(got)
		}
	}
	if reported < 1000 {
		t.Errorf("%d keys were reported, want many", reported)
	}
}

// user is the filter key of a key.
func (c *neverCase) user(key []byte) []byte {
	if c.internal {
		return internalkey.UserKey(key)
	}
	return key
}

// Goroutines add keys concurrently, from lookups in one table.
func TestFalsePositivesOfGoroutines(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(1)}, numbered(100))
	var f filter.FalsePositives
	r := open(t, contents, &table.ReaderOptions{OnFalsePositive: f.Add})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 500 {
				r.Get(fmt.Appendf(nil, "%d.", i))
				f.Keys()
			}
		})
	}
	all.Wait()
	kept := map[string]bool{}
	for key := range f.Keys() {
		kept[string(key)] = true
	}
	for i := range 500 {
		key := fmt.Sprintf("%d.", i)
		if want := mayContain(r, []byte(key)); kept[key] != want {
			t.Errorf("%s is kept: %v, want %v", key, kept[key], want)
		}
	}
}
