package set_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// faultyCalls make calls of a Set whose store has faults, and check that they return an error or the result for one
// of the manifests.
type faultyCalls struct {
	t         *testing.T
	seed      uint64
	src       *faultyStore
	s         *set.Set
	manifests []*set.Manifest
	values    []map[string]string // of each of the manifests
}

// While tables are lost, cut, replaced, stall and fail, no call returns a wrong result. Once they are back, all
// lookups succeed again.
func TestNoWrongAnswerWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(25, 300)) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 35))
			c := newFaultyCalls(t, seed, rng)
			stop := make(chan struct{})
			var faults, calls sync.WaitGroup
			faults.Go(func() { c.changeUntil(stop) })
			for range 4 {
				rng := rand.New(rand.NewPCG(seed, rng.Uint64()))
				calls.Go(func() {
					for range 30 {
						c.random(rng)
					}
				})
			}
			closes := rng.IntN(4) == 0
			if closes {
				after := time.Duration(rng.IntN(300)) * time.Millisecond
				calls.Go(func() { time.Sleep(after); c.s.Close() })
			}
			calls.Wait()
			close(stop)
			faults.Wait()
			c.src.end()
			if !closes {
				c.checkAll(rng)
			}
			c.end()
		})
	}
}

// newFaultyCalls opens a set with random options. Half of the sets get new manifests: layers are added, and then the
// set is rewritten.
func newFaultyCalls(t *testing.T, seed uint64, rng *rand.Rand) *faultyCalls {
	l := newLayeredModel(rng)
	l.o.Compression = table.NoCompression // so that tables with other values have the same size
	c := &faultyCalls{t: t, seed: seed}
	for range 4 {
		l.add(t)
		m := *l.m
		c.manifests, c.values = append(c.manifests, &m), append(c.values, maps.Clone(l.values))
	}
	var pairs [][2]string
	for _, k := range slices.Sorted(maps.Keys(l.values)) {
		pairs = append(pairs, [2]string{k, l.values[k]})
	}
	folded := new(set.Manifest)
	for half := range slices.Chunk(pairs, len(pairs)/2+1) {
		folded.Tables = append(folded.Tables, l.src.put(t, fmt.Sprint("folded", len(folded.Tables)), l.o, half))
	}
	c.manifests, c.values = append(c.manifests, folded), append(c.values, l.values)
	if rng.IntN(2) == 0 { // then all results must fit one manifest
		c.manifests, c.values = c.manifests[3:4], c.values[3:4]
	}
	c.src = newFaultyStore(t, l)
	o := &set.Options{
		OpenAll: rng.IntN(2) == 0, MemorySize: int64(rng.IntN(3) * 2000), Concurrency: 1 + rng.IntN(4),
		ReadTimeout: 20 * time.Millisecond,
	}
	o.Reader.Mapped = rng.IntN(3) == 0
	if rng.IntN(2) == 0 && o.OpenAll {
		o.OnLoss = func(table.Loss) bool { return true }
	}
	if rng.IntN(2) == 0 {
		o.Reader.Cache = table.NewCache(int64(rng.IntN(100_000)))
	}
	c.s = open(t, c.manifests[0], c.src, o)
	return c
}

// changeUntil changes the faults of tables until stop is closed.
func (c *faultyCalls) changeUntil(stop chan struct{}) {
	for {
		select {
		case <-time.After(2 * time.Millisecond):
			c.src.change()
		case <-stop:
			return
		}
	}
}

// random makes a random call, sometimes with little time.
func (c *faultyCalls) random(rng *rand.Rand) {
	ctx, cancel := context.WithTimeout(background, time.Duration(1+rng.IntN(200))*time.Millisecond)
	defer cancel()
	k := randomKey(rng)
	switch rng.IntN(10) {
	case 0, 1, 2:
		value, err := c.s.Get(ctx, k)
		c.checkGet(k, value, err)
	case 3:
		if may, err := c.s.MayContain(ctx, k); !may && err == nil {
			c.checkGet(k, nil, table.ErrNotFound)
		}
	case 4:
		if may, _ := c.s.TryMayContain(k); !may {
			c.checkGet(k, nil, table.ErrNotFound)
		}
	case 5, 6:
		keys := make([][]byte, 30)
		for i := range keys {
			keys[i] = randomKey(rng)
		}
		c.checkGetMany(ctx, keys)
	case 7:
		c.checkIter(ctx)
	case 8:
		c.s.Swap(ctx, c.manifests[rng.IntN(len(c.manifests))])
	case 9:
		c.s.Drain(ctx)
		c.s.Reopen(ctx)
	}
}

// randomKey returns a key that a set may contain, or often an absent one.
func randomKey(rng *rand.Rand) []byte {
	k := []byte(key(rng.IntN(numberOfKeys)))
	if rng.IntN(4) == 0 {
		k = append(k, 'x')
	}
	return k
}

// checkGet checks the result of a lookup.
func (c *faultyCalls) checkGet(k, value []byte, err error) {
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return // no answer
	}
	for _, values := range c.values {
		if want, there := values[string(k)]; there == (err == nil) && want == string(value) {
			return
		}
	}
	c.t.Errorf("seed %d: Get(%q) = %q, %v, which no manifest has", c.seed, k, value, err)
}

// checkGetMany checks that one manifest has all results.
func (c *faultyCalls) checkGetMany(ctx context.Context, keys [][]byte) {
	unanswered := make([]bool, len(keys))
	found := make([]*string, len(keys))
	o := &table.GetManyOptions{NoAnswer: func(i int, _ error) { unanswered[i] = true }}
	err := c.s.GetMany(ctx, keys, o, func(i int, value []byte) error {
		v := string(value)
		found[i] = &v
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return // it has ended
	}
	if err == nil && slices.Contains(unanswered, true) {
		c.t.Errorf("seed %d: GetMany has no error and no answer for some keys", c.seed)
	}
	if !slices.ContainsFunc(c.values, func(values map[string]string) bool {
		for i, k := range keys {
			want, there := values[string(k)]
			switch {
			case unanswered[i] && found[i] == nil:
			case unanswered[i] || there != (found[i] != nil) || there && want != *found[i]:
				return false
			}
		}
		return true
	}) {
		c.t.Errorf("seed %d: GetMany has answers that no manifest has together", c.seed)
	}
}

// checkIter checks that one manifest has all entries that an Iter returns before its error.
func (c *faultyCalls) checkIter(ctx context.Context) {
	it := c.s.NewIter(ctx, nil)
	defer it.Close()
	var got [][2]string
	for e, err := range it.All() {
		if err == nil {
			got = append(got, [2]string{string(e.Key), string(e.Value)})
		}
	}
	if !slices.ContainsFunc(c.values, func(values map[string]string) bool {
		for i, k := range slices.Sorted(maps.Keys(values)) {
			if i == len(got) {
				return it.Error() != nil
			}
			if got[i] != [2]string{k, values[k]} {
				return false
			}
		}
		return len(got) == len(values)
	}) {
		c.t.Errorf("seed %d: an Iter shows %d entries and then %v, which no manifest has", c.seed, len(got), it.Error())
	}
}

// checkAll checks that all calls succeed after the faults.
func (c *faultyCalls) checkAll(rng *rand.Rand) {
	last := rng.IntN(len(c.manifests))
	c.untilReplaced(func() error { return c.s.Swap(background, c.manifests[last]) })
	c.values = c.values[last : last+1]
	if rng.IntN(2) == 0 {
		c.untilReplaced(func() error { return c.s.Reopen(background) })
	}
	for i := range numberOfKeys {
		for _, k := range []string{key(i), key(i) + "x"} {
			c.untilReplaced(func() error {
				value, err := c.s.Get(background, []byte(k))
				c.checkGet([]byte(k), value, err)
				if errors.Is(err, table.ErrNotFound) {
					err = nil
				}
				return err
			})
		}
	}
	c.checkIter(background)
	c.untilReplaced(func() error { return c.s.Reopen(background) })
	checkUnavailable(c.t, c.s, nil)
}

// end checks that nothing stays in use.
func (c *faultyCalls) end() {
	c.s.Close()
	if err := c.s.Drain(background); err != nil || c.s.MemorySize() != 0 || len(c.src.versions) > 0 {
		c.t.Errorf("seed %d: Drain = %v; %d bytes of open tables and %v not forgotten, want none",
			c.seed, err, c.s.MemorySize(), c.src.versions)
	}
}

// untilReplaced repeats a call that fails because a table was replaced since it was opened. Each table can be
// replaced once.
func (c *faultyCalls) untilReplaced(call func() error) {
	err := call()
	for range c.src.names {
		if errors.Is(err, set.ErrReplaced) {
			err = call()
		}
	}
	if err != nil {
		c.t.Errorf("seed %d: after the faults: %v", c.seed, err)
	}
}
