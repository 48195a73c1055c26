package set_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// checkTry checks the results of TryMayContain.
func checkTry(t *testing.T, s *set.Set, key string, may, known bool) {
	t.Helper()
	if gotMay, gotKnown := s.TryMayContain([]byte(key)); gotMay != may || gotKnown != known {
		t.Errorf("TryMayContain(%q) = %t, %t; want %t, %t", key, gotMay, gotKnown, may, known)
	}
}

// TryMayContain uses only open tables, and reads nothing.
func TestTryMayContain(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	s := open(t, m, src, nil)
	checkTry(t, s, key(3), true, false)
	checkTry(t, s, key(3)+"x", true, false)
	checkTry(t, s, key(49)+"x", false, true) // in no table's range
	checkTry(t, s, "z", false, true)
	checkReads(t, src, 0)
	checkGet(t, s, key(3), valueOf(3))
	src.reads.Store(0)
	checkTry(t, s, key(3), true, true)
	checkTry(t, s, key(3)+"x", false, true)
	checkTry(t, s, key(60), true, false)
	checkReads(t, src, 0)
	s.Close()
	checkTry(t, s, key(3), true, false)
	checkTry(t, s, "z", true, false)
}

// A removal that only a read could tell matters only for keys that an older layer may contain.
func TestTryMayContainOfLayers(t *testing.T) {
	t.Parallel()
	src := newStore()
	pairs := func(keys ...string) (pairs [][2]string) {
		for _, k := range keys {
			pairs = append(pairs, [2]string{k, k})
		}
		return pairs
	}
	m := &set.Manifest{
		Tables: []set.Table{src.put(t, "base", filtered, pairs("a", "base", "removed", "z"))},
		Layers: []set.Layer{{
			Tables:   []set.Table{src.put(t, "added", filtered, pairs("a", "added", "z"))},
			Removals: []set.Table{src.put(t, "gone", filtered, pairs("b", "never there", "removed", "y"))},
		}},
	}
	s := open(t, m, src, eager)
	checkTry(t, s, "added", true, true)
	checkTry(t, s, "base", true, true)
	checkTry(t, s, "removed", true, false)
	checkTry(t, s, "never there", false, true)
	checkTry(t, s, "no such key", false, true)

	lazy := open(t, m, src, nil)
	checkTry(t, lazy, "base", true, false)
	for _, ask := range []string{"a", "c"} { // added; gone and base
		_, err := lazy.MayContain(background, []byte(ask))
		noError(t, err)
	}
	checkTry(t, lazy, "base", true, true)

	without := newStore() // the removals
	without.files["base"], without.files["added"] = src.files["base"], src.files["added"]
	s = open(t, m, without, &set.Options{OpenAll: true, OnLoss: func(table.Loss) bool { return true }})
	checkTry(t, s, "added", true, true)
	checkTry(t, s, "base", true, false)
	checkTry(t, s, "no such key", false, true)
	_, err := s.MayContain(background, []byte("base"))
	checkError(t, "MayContain of a key that may be removed", err, nil, `table "gone"`)
}

// For sets of random layers, of which some tables are open, false is certain, and a known result equals
// MayContain's.
func TestTryMayContainIsNeverWrong(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(40, 400)) {
		rng := rand.New(rand.NewPCG(seed, 34))
		l := newLayeredModel(rng)
		for range 1 + rng.IntN(4) {
			l.add(t)
		}
		s := open(t, l.m, l.src, &set.Options{MemorySize: int64(rng.IntN(3) * 1000), Reader: table.ReaderOptions{Mapped: rng.IntN(2) == 0}})
		for range 200 {
			k := []byte(key(rng.IntN(numberOfKeys)))
			if rng.IntN(2) == 0 {
				k = fmt.Append(k, "x")
			}
			reads := l.src.reads.Load()
			may, known := s.TryMayContain(k)
			if l.src.reads.Load() != reads {
				t.Fatalf("seed %d: TryMayContain has read", seed)
			}
			_, there := l.values[string(k)]
			want, err := s.MayContain(background, k)
			if err != nil || !may && (there || !known) || known && may != want {
				t.Fatalf("seed %d: TryMayContain(%q) = %t, %t; MayContain = %t, %v; there: %t", seed, k, may, known, want, err, there)
			}
		}
	}
}
