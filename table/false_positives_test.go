package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// Every lookup reports a key if and only if it has searched a data block because a filter was wrong about the key. It
// reports no user key that the table has at another sequence number.
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
		r := c.open(t, &c.o)
		users := map[string]bool{}
		for _, p := range c.pairs {
			users[string(c.user(p.Key))] = true
		}
		keys := slices.Concat(c.never, c.others)
		if c.internal { // the keys of the table too, at another number
			for _, p := range c.pairs {
				keys = append(keys, p.Key)
			}
			for i, key := range keys {
				keys[i] = table.SearchKey(nil, c.user(key), rng.Uint64N(12))
			}
		}
		var want []string
		for _, key := range keys {
			if user := c.user(key); !users[string(user)] && mayContain(r, key) {
				want = append(want, string(user))
			}
		}
		slices.Sort(want)
		for way, look := range map[string]func() error{
			"Get":     func() error { return eachKey(keys, func(key []byte) error { r.Get(key); return nil }) },
			"Find":    func() error { return eachKey(keys, func(key []byte) error { r.Find(key); return nil }) },
			"GetMany": func() error { return errorOf(getMany(r, keys, &table.GetManyOptions{Gap: rng.IntN(5000)})) },
		} {
			before := c.r.Metrics.FilterFalsePositives.Load()
			got = nil
			noError(t, look())
			slices.Sort(got)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", c.description, way, diff)
			}
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
		return table.InternalFilterKey(key)
	}
	return key
}

// Where no filter was consulted, nothing is a false positive.
func TestOnFalsePositiveWithoutFilters(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(1)}, numbered(1000))
	r := open(t, contents, &table.ReaderOptions{
		IgnoreFilter: true, Cache: table.NewCache(1 << 20), OnFalsePositive: func(key []byte) { t.Errorf("reported %q", key) },
	})
	var keys [][]byte
	for i := range 1000 {
		keys = append(keys, fmt.Appendf(nil, "%d.", i))
	}
	for range 2 { // the second time from the Cache
		checkGetMany(t, "without filters", r, keys, nil) // and Get
	}
}

// Whatever is counted in whatever order, a key that is more than one in Most+1 of all is kept, and no more than Most.
func TestFalsePositivesKeepsTheMostFrequent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(26, seed))
		f := table.FalsePositives{Most: 1 + rng.IntN(20)}
		zipf := rand.NewZipf(rng, 1.01+rng.Float64(), 1, 100)
		counts, n := map[string]int{}, 1+rng.IntN(2000)
		for range n {
			key := fmt.Append(nil, zipf.Uint64())
			counts[string(key)]++
			f.Add(key)
		}
		kept := f.Keys()
		for key, count := range counts {
			if count > n/(f.Most+1) && !slices.ContainsFunc(kept, func(k []byte) bool { return string(k) == key }) {
				t.Errorf("seed %d: %s is %d of %d and not among %q", seed, key, count, n, kept)
			}
		}
		if len(kept) > f.Most {
			t.Errorf("seed %d: %d keys, want at most %d", seed, len(kept), f.Most)
		}
	}
}

// The order is that of the counts, and the slices are copies. Long keys are left out.
func TestFalsePositivesKeys(t *testing.T) {
	t.Parallel()
	var f table.FalsePositives
	buf := make([]byte, 1)
	for _, buf[0] = range []byte("baa") {
		f.Add(buf)
	}
	f.Add([]byte{})
	f.Add(make([]byte, 1025))
	f.Keys()[0][0] = 'x'
	if diff := gocmp.Diff([][]byte{[]byte("a"), {}, []byte("b")}, f.Keys()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 2000 {
		f.Add(fmt.Append(nil, i))
	}
	if n := len(f.Keys()); n > 1000 {
		t.Errorf("%d keys, want at most 1000", n)
	}
}

// Goroutines add at the same time, from lookups in one table.
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
	for i := range 500 {
		key := fmt.Appendf(nil, "%d.", i)
		kept := slices.ContainsFunc(f.Keys(), func(k []byte) bool { return bytes.Equal(k, key) })
		if want := mayContain(r, key); kept != want {
			t.Errorf("%s is kept: %v, want %v", key, kept, want)
		}
	}
}
