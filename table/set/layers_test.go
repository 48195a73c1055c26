package set_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A layeredModel is a set of layers, and its expected contents.
type layeredModel struct {
	src    *store
	m      *set.Manifest
	o      *table.WriterOptions
	values map[string]string
	tables int
	rng    *rand.Rand
}

// newLayeredModel returns a set without tables. Its tables will have random options.
func newLayeredModel(rng *rand.Rand) *layeredModel {
	return &layeredModel{src: newStore(), m: new(set.Manifest), o: randomOptions(rng), values: map[string]string{}, rng: rng}
}

// numberOfKeys is the number of possible keys.
const numberOfKeys = 200

// randomKeys returns up to n keys, in order.
func (l *layeredModel) randomKeys(n int) []string {
	keys := map[string]bool{}
	for range l.rng.IntN(n + 1) {
		keys[key(l.rng.IntN(numberOfKeys))] = true
	}
	return slices.Sorted(maps.Keys(keys))
}

// put writes tables of the keys, with values that begin with prefix, and returns their lines.
func (l *layeredModel) put(t *testing.T, keys []string, value string) (lines []set.Table) {
	t.Helper()
	for len(keys) > 0 {
		n := 1 + l.rng.IntN(len(keys))
		var pairs [][2]string
		for _, k := range keys[:n] {
			pairs = append(pairs, [2]string{k, value})
		}
		l.tables++
		lines = append(lines, l.src.put(t, fmt.Sprint("t", l.tables), l.o, pairs))
		keys = keys[n:]
	}
	return lines
}

// add adds a layer, or the base if there is none.
func (l *layeredModel) add(t *testing.T) {
	t.Helper()
	added, value := l.randomKeys(150), fmt.Sprint("value ", l.tables)
	if l.rng.IntN(4) == 0 {
		value = ""
	}
	if l.m.Tables == nil {
		l.m.Tables = l.put(t, added, value)
	} else {
		removed := l.randomKeys(100)
		for _, k := range removed {
			delete(l.values, k)
		}
		l.m.Layers = append(slices.Clip(l.m.Layers), set.Layer{Tables: l.put(t, added, value), Removals: l.put(t, removed, "of no matter")})
	}
	for _, k := range added { // even if they are in both
		l.values[k] = value
	}
}

// check compares the set with the model.
func (l *layeredModel) check(t *testing.T, s *set.Set) {
	t.Helper()
	var keys [][]byte
	for i := range numberOfKeys {
		keys = append(keys, []byte(key(i)), []byte(key(i)+"x"))
	}
	l.rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, k := range keys {
		want, there := l.values[string(k)]
		value, err := s.Get(background, k)
		if string(value) != want || (err == nil) != there || err != nil && !errors.Is(err, table.ErrNotFound) {
			t.Fatalf("Get(%q) = %q, %v; want %q, %v", k, value, err, want, there)
		}
		if may, err := s.MayContain(background, k); err != nil || there && !may {
			t.Fatalf("MayContain(%q) = %v, %v, and the set has it", k, may, err)
		}
	}
	got, err := getMany(background, s, keys, &table.GetManyOptions{Concurrency: l.rng.IntN(4), Gap: l.rng.IntN(1000)})
	if diff := cmp.Diff(l.values, got); err != nil || diff != "" {
		t.Fatalf("GetMany: %v (-want +got):\n%s", err, diff)
	}
	l.checkIter(t, s)
}

// checkIter compares Iters with the model: forward, backward, and after random moves within bounds.
func (l *layeredModel) checkIter(t *testing.T, s *set.Set) {
	t.Helper()
	if diff := cmp.Diff(l.values, entriesOf(t, s, nil)); diff != "" {
		t.Fatalf("All (-want +got):\n%s", diff)
	}
	it := s.NewIter(background, nil)
	for ok := it.Last(); ok; ok = it.Prev() {
		if want := l.values[string(it.Key())]; string(it.Value()) != want {
			t.Fatalf("backward, %q has %q, want %q", it.Key(), it.Value(), want)
		}
	}
	noError(t, it.Close())
	for range 5 {
		o := table.IterOptions{}
		if l.rng.IntN(2) == 0 {
			o.Lower = []byte(key(l.rng.IntN(numberOfKeys)))
		}
		if l.rng.IntN(2) == 0 {
			o.Upper = []byte(key(l.rng.IntN(numberOfKeys)))
		}
		if prefix := key(l.rng.IntN(numberOfKeys)); l.rng.IntN(2) == 0 {
			o.Prefix = []byte(prefix[:l.rng.IntN(len(prefix)+1)])
		}
		shown := slices.DeleteFunc(slices.Sorted(maps.Keys(l.values)), func(k string) bool {
			return k < string(o.Lower) || o.Upper != nil && k >= string(o.Upper) || !strings.HasPrefix(k, string(o.Prefix))
		})
		name := fmt.Sprintf("from %q to %q, with %q", o.Lower, o.Upper, o.Prefix)
		it = s.NewIter(background, &o)
		clear(o.Lower) // the Iter has copies
		clear(o.Upper)
		moveAround(t, name, l.rng, it, shown)
		noError(t, it.Close())
	}
}

// A set of layers behaves like a map to which the layers were applied in order.
func TestLayersAnswerAsTheirChanges(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(15, 150)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 33))
			l := newLayeredModel(rng)
			l.add(t)
			o := set.Options{OpenAll: rng.IntN(2) == 0, MemorySize: int64(rng.IntN(2) * rng.IntN(2000)), Concurrency: 1 + rng.IntN(4)}
			if rng.IntN(2) == 0 {
				o.Reader.Cache = table.NewCache(int64(rng.IntN(100_000)))
			}
			o.Reader.Mapped = rng.IntN(2) == 0
			s := open(t, l.m, mapper{l.src}, &o)
			for range 5 {
				l.check(t, s)
				l.add(t)
				noError(t, s.Swap(background, l.m))
			}
			l.check(t, s)
			noError(t, s.Verify(background, nil))
		})
	}
}
