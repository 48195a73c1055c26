package database_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A model has the expected contents of a View: user keys and their values.
type model map[string]string

// asOf returns the model of writes as of a sequence number. Later writes of a key have higher numbers.
func asOf(writes []entry, sequence uint64) model {
	m := model{}
	for _, w := range writes {
		switch {
		case w.Sequence > sequence:
		case w.Kind == internalkey.Delete:
			delete(m, string(w.UserKey))
		default:
			m[string(w.UserKey)] = w.value
		}
	}
	return m
}

// pairs returns the model's entries within the bounds and with the prefix, in an order.
func (m model) pairs(order table.Comparer, o *table.IterOptions) (pairs []workload.Pair) {
	for _, key := range slices.SortedFunc(maps.Keys(m), func(a, b string) int { return order.Compare([]byte(a), []byte(b)) }) {
		out := o != nil && (o.Lower != nil && order.Compare([]byte(key), o.Lower) < 0 || o.Upper != nil && order.Compare([]byte(key), o.Upper) >= 0 ||
			!strings.HasPrefix(key, string(o.Prefix)))
		if !out {
			pairs = append(pairs, workload.Pair{Key: []byte(key), Value: []byte(m[key])})
		}
	}
	return pairs
}

// A checker compares Views with models. It looks up keys of the database and others.
type checker struct {
	rng   *rand.Rand
	order table.Comparer
	keys  []string
}

// check compares a View with its model, by all of its methods.
func (c *checker) check(t *testing.T, v database.View, m model) {
	t.Helper()
	for _, key := range c.keys {
		value, there := m[key]
		checkGet(t, v, key, value, there)
	}
	c.checkGetMany(t, v, m)
	for range 4 {
		o := c.bounds()
		want := m.pairs(c.order, o)
		if diff := tabletest.DiffPairs(want, collect(t, v, o)); diff != "" {
			t.Errorf("All of %+v (-want +got):\n%s", o, diff)
		}
		c.moveAround(t, v, o, want)
	}
}

// checkGet gets a key in both ways.
func checkGet(t *testing.T, v database.View, key, value string, there bool) {
	t.Helper()
	got, err := v.Get([]byte(key))
	appended, appendErr := v.AppendGet([]byte("dst"), []byte(key))
	switch {
	case there && (err != nil || appendErr != nil || string(got) != value || got == nil || string(appended) != "dst"+value):
		t.Fatalf("Get(%q) = %q, %v; AppendGet %q, %v; want %q", key, got, err, appended, appendErr, value)
	case !there && (!errors.Is(err, table.ErrNotFound) || !errors.Is(appendErr, table.ErrNotFound) || got != nil || string(appended) != "dst"):
		t.Fatalf("Get(%q) = %q, %v; AppendGet %q, %v; want ErrNotFound", key, got, err, appended, appendErr)
	}
}

// checkGetMany looks up keys in a random order, some of them several times. Nil stands for the empty key.
func (c *checker) checkGetMany(t *testing.T, v database.View, m model) {
	t.Helper()
	keys, want := [][]byte{nil}, map[int]string{}
	for range c.rng.IntN(3 * len(c.keys)) {
		keys = append(keys, []byte(c.keys[c.rng.IntN(len(c.keys))]))
	}
	for i, key := range keys {
		if value, there := m[string(key)]; there {
			want[i] = value
		}
	}
	got := map[int]string{}
	o := &table.GetManyOptions{Concurrency: c.rng.IntN(5), Gap: c.rng.IntN(2), DontFillCache: c.rng.IntN(2) == 0}
	o.NoAnswer = func(i int, err error) { t.Errorf("no answer for %q: %v", keys[i], err) }
	err := v.GetMany(t.Context(), keys, o, func(i int, value []byte) error {
		if _, again := got[i]; again || value == nil {
			t.Errorf("keys[%d] is found again, or without a value: %q", i, value)
		}
		got[i] = string(value)
		return nil
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("GetMany = %v (-want +got):\n%s", err, diff)
	}
}

// bounds returns random bounds, which may be in a wrong order, and in bytewise order a prefix, or nil.
func (c *checker) bounds() *table.IterOptions {
	bound := func() []byte {
		if c.rng.IntN(3) == 0 {
			return nil
		}
		return []byte(c.keys[c.rng.IntN(len(c.keys))])
	}
	if c.rng.IntN(4) == 0 {
		return nil
	}
	o := &table.IterOptions{Lower: bound(), Upper: bound(), ReadAhead: c.rng.IntN(3) * 300, DontFillCache: c.rng.IntN(2) == 0}
	if prefix := bound(); c.order == table.BytewiseComparer {
		o.Prefix = prefix[:c.rng.IntN(len(prefix)+1)]
	}
	return o
}

// collect returns the entries that All yields.
func collect(t testing.TB, v database.View, o *table.IterOptions) []workload.Pair {
	t.Helper()
	pairs, err := pairsOf(v.All(o))
	noError(t, err)
	return pairs
}

// pairsOf returns entries up to an error.
func pairsOf(entries iter.Seq2[table.Entry, error]) (pairs []workload.Pair, err error) {
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, workload.Pair{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value)})
	}
	return pairs, nil
}

// moveAround makes random moves with an iterator.
func (c *checker) moveAround(t *testing.T, v database.View, o *table.IterOptions, pairs []workload.Pair) {
	t.Helper()
	it := v.NewIter(o)
	m := &tabletest.Model{Pairs: pairs, Compare: c.order.Compare, At: -1}
	var moves []string
	for range 60 {
		move, got, want := tabletest.Step(c.rng, it, m, []byte(c.keys[c.rng.IntN(len(c.keys))]))
		moves = append(moves, move)
		wrong := got != want || it.Valid() != want || it.Error() != nil
		if !wrong && want {
			wrong = !bytes.Equal(it.Key(), pairs[m.At].Key) || !bytes.Equal(it.Value(), pairs[m.At].Value)
		}
		if wrong {
			t.Fatalf("bounds %+v, moves %q: %t at %q, %q, %v; want %t at pair %d of %d", o, moves, got, it.Key(), it.Value(), it.Error(), want, m.At, len(pairs))
		}
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
	if it.Next() || !errors.Is(it.Error(), table.ErrClosed) {
		t.Errorf("after Close: %v", it.Error())
	}
}

// someKeys returns different keys, the empty one and the highest ones among them.
func someKeys(rng *rand.Rand, n int) []string {
	keys := []string{"", "\x00", "\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"}
	for range n {
		key := fmt.Sprintf("key%0*d", 1+rng.IntN(12), rng.IntN(n))
		if rng.IntN(4) == 0 {
			key = string(tabletest.FewBytes(rng))
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
