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

// FuzzSet does random operations on a set, and compares each result with a map: lookups, iterations, swaps that keep
// some tables, and deletions of tables after a Drain. Little memory makes the set close tables between operations.
// At first, the set has no tables.
func FuzzSet(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(seed, uint16(seed*700), seed%2 == 0, []byte("\x06\x01\x03\x04\x07"+
			"\x00\x06\x01\x02\x03\x00\x06\x04\x01\x05\x00\x02\x07\x04\x00\x03\x05\x00\x06\x02\x04\x00\x07"))
	}
	f.Fuzz(func(t *testing.T, seed uint64, memory uint16, openAll bool, operations []byte) {
		z := &fuzzed{t: t, rng: rand.New(rand.NewPCG(seed, 17)), src: newStore()}
		o := set.Options{OpenAll: openAll, MemorySize: int64(memory), Concurrency: 1 + int(seed%4)}
		if seed%3 == 0 {
			o.Reader.Cache = table.NewCache(int64(seed % 20_000))
		}
		z.s = open(t, new(set.Manifest), z.src, &o)
		for _, op := range operations[:min(len(operations), 100)] {
			z.do(op)
		}
		z.closeIter()
		noError(t, errors.Join(z.s.Close(), z.s.Drain(background)))
		if n := z.s.MemorySize(); n != 0 || len(z.src.wrong) > 0 {
			t.Errorf("open tables take %d bytes at the end, want 0; wrong: %q", n, z.src.wrong)
		}
	})
}

// A fuzzed is a set and its expected contents.
type fuzzed struct {
	t     *testing.T
	rng   *rand.Rand
	src   *store
	s     *set.Set
	pairs map[string]string

	it    *set.Iter // or nil
	shown []string  // its keys
}

// do does an operation.
func (z *fuzzed) do(op byte) {
	switch op % 8 {
	case 0:
		z.swap()
	case 1, 2:
		z.getMany()
	case 3:
		z.closeIter()
		z.it, z.shown = z.s.NewIter(background, nil), slices.Sorted(maps.Keys(z.pairs))
	case 4:
		z.move()
	case 5:
		z.deleteOld()
	case 6:
		z.get()
	default:
		noError(z.t, z.s.Verify(background, nil))
	}
}

func (z *fuzzed) get() {
	k := z.key()
	checkGet(z.t, z.s, k, z.pairs[k])
	if may, err := z.s.MayContain(background, []byte(k)); err != nil || !may && z.pairs[k] != "" {
		z.t.Errorf("MayContain(%q) = %t, %v", k, may, err)
	}
}

func (z *fuzzed) key() string { return key(z.rng.IntN(700)) + strings.Repeat("x", z.rng.IntN(2)) }

// swap removes, replaces or adds a table of the manifest.
func (z *fuzzed) swap() {
	m := &set.Manifest{Tables: slices.Clone(z.s.Manifest().Tables)}
	first := 100 * z.rng.IntN(6)
	i, found := slices.BinarySearchFunc(m.Tables, key(first), func(t set.Table, k string) int { return strings.Compare(string(t.Smallest), k) })
	if found {
		m.Tables = slices.Delete(m.Tables, i, i+1)
	}
	var pairs [][2]string
	if !found || z.rng.IntN(2) == 0 {
		pairs = numbered(first, first+1+z.rng.IntN(100))
		value := fmt.Sprint("value ", z.rng.Uint32())
		pairs = withValue(value, pairs)
		m.Tables = slices.Insert(m.Tables, i, z.src.put(z.t, fmt.Sprintf("%d-%s", first, value), filtered, pairs))
	}
	noError(z.t, z.s.Swap(background, m))
	next := map[string]string{}
	for k, v := range z.pairs {
		if k < key(first) || k >= key(first+100) {
			next[k] = v
		}
	}
	for _, p := range pairs {
		next[p[0]] = p[1]
	}
	z.pairs = next
}

func (z *fuzzed) getMany() {
	var keys [][]byte
	want := map[string]string{}
	for range z.rng.IntN(40) {
		k := z.key()
		keys = append(keys, []byte(k))
		if v := z.pairs[k]; v != "" {
			want[k] = v
		}
	}
	got, err := getMany(background, z.s, keys, &table.GetManyOptions{Concurrency: 1 + z.rng.IntN(3)})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		z.t.Errorf("GetMany: %v (-want +got):\n%s", err, diff)
	}
}

// move moves the Iter, which returns the set's entries from when it was created.
func (z *fuzzed) move() {
	if z.it != nil {
		moveAround(z.t, "Iter", z.rng, z.it, z.shown)
	}
}

func (z *fuzzed) closeIter() {
	if z.it == nil {
		return
	}
	noError(z.t, z.it.Close())
	z.it = nil
}

// deleteOld deletes the tables that the manifest does not list.
func (z *fuzzed) deleteOld() {
	z.closeIter()
	noError(z.t, z.s.Drain(background))
	used := map[string]bool{}
	for _, t := range z.s.Manifest().Tables {
		used[t.Name] = true
	}
	for _, name := range slices.Collect(maps.Keys(z.src.files)) {
		if !used[name] {
			z.src.delete(name)
		}
	}
}
