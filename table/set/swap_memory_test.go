package set_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// memoryOf returns the total memory of open, unused tables.
func memoryOf(t *testing.T, src *store, tables map[string]set.Table) (size int64) {
	t.Helper()
	for _, l := range tables {
		s := open(t, manifestOf(l), src, eager)
		size += s.MemorySize()
		s.Close()
	}
	return size
}

// tablesIn returns the tables of manifests, by name.
func tablesIn(manifests ...*set.Manifest) map[string]set.Table {
	tables := map[string]set.Table{}
	for _, m := range manifests {
		for l := range m.All() {
			tables[l.Name] = *l
		}
	}
	return tables
}

// A swapOf is a Swap from one manifest to another.
type swapOf struct {
	src      *store
	old, new *set.Manifest
	differs  int64 // tables that only new has
}

// swaps returns Swaps that change few tables, or all.
func swaps(t *testing.T) map[string]swapOf {
	src, m := numberedSet(t, 10, filtered)
	layer := func(name string) set.Layer {
		return set.Layer{
			Tables:   []set.Table{src.put(t, "added "+name, filtered, numberedAs("u"+name, 40))},
			Removals: []set.Table{src.put(t, "removed "+name, filtered, [][2]string{{key(3), ""}, {key(60), ""}})},
		}
	}
	oneNew := slices.Clone(m.Tables)
	oneNew[4] = src.put(t, "new", filtered, numbered(4*perTable, 5*perTable))
	first := &set.Manifest{Tables: m.Tables, Layers: []set.Layer{layer("1")}}
	folded := new(set.Manifest)
	for i := range m.Tables {
		folded.Tables = append(folded.Tables, src.put(t, fmt.Sprint("folded", i), filtered, numbered(i*perTable, (i+1)*perTable)))
	}
	return map[string]swapOf{
		"one of ten tables": {src, m, &set.Manifest{Tables: oneNew}, 1},
		"a first layer":     {src, m, first, 2},
		"one more layer":    {src, first, &set.Manifest{Tables: m.Tables, Layers: append(slices.Clip(first.Layers), layer("2"))}, 2},
		"layers folded":     {src, first, folded, int64(len(folded.Tables))},
		"nothing":           {src, first, first, 0},
	}
}

// While a Swap opens the new manifest's tables and the old manifest is still in use, tables in both are in memory
// once, and are not read again. When the old version has ended, only the new one takes memory.
func TestSwapTakesMemoryForWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, swap := range swaps(t) {
		t.Run(name, func(t *testing.T) {
			s := open(t, swap.old, swap.src, eager)
			it := s.NewIter(background, nil)
			swap.src.reads.Store(0)
			noError(t, s.Swap(background, swap.new))
			checkReads(t, swap.src, swap.differs)
			checkDiff(t, "bytes of both lists", memoryOf(t, swap.src, tablesIn(swap.old, swap.new)), s.MemorySize())
			it.Close()
			noError(t, s.Drain(background))
			checkDiff(t, "bytes of the new list", memoryOf(t, swap.src, tablesIn(swap.new)), s.MemorySize())
		})
	}
}

// With a MemorySize that just fits the old manifest, a Swap stays within it, except for the tables that are being
// opened. It closes no table of the old manifest, even if none is used meanwhile.
func TestSwapClosesNoTableInUse(t *testing.T) {
	t.Parallel()
	const concurrency = 2
	for name, swap := range swaps(t) {
		t.Run(name, func(t *testing.T) {
			src, old := swap.src, memoryOf(t, swap.src, tablesIn(swap.old))
			o := &set.Options{OpenAll: true, MemorySize: old + 10, Concurrency: concurrency}
			most := o.MemorySize + concurrency*largest(t, src, swap.new)
			s := open(t, swap.old, src, o)
			defer func() { src.before = nil }()
			last := src.put(t, "zz", filtered, numberedAs("zz", 3))
			src.before = func(_ context.Context, name string, _ []byte, _ int64) (int, error, bool) {
				if got := s.MemorySize(); got > most {
					t.Errorf("%d bytes while %q is opened, want ≤ %d", got, name, most)
				}
				return 0, broken, name == last.Name
			}
			fails := &set.Manifest{Tables: append(slices.Clip(swap.new.Tables), last), Layers: swap.new.Layers}
			checkError(t, "Swap", s.Swap(background, fails), broken, "")
			noError(t, s.Drain(background))
			checkDiff(t, "bytes of the old list", old, s.MemorySize())
			src.reads.Store(0)
			noError(t, errors.Join(s.Swap(background, swap.new), s.Drain(background)))
			if checkReads(t, src, swap.differs); s.MemorySize() > o.MemorySize {
				t.Errorf("%d bytes of open tables, want ≤ %d", s.MemorySize(), o.MemorySize)
			}
			checkGet(t, s, key(100), valueOf(100))
		})
	}
}

// largest returns the memory of the largest table of m.
func largest(t *testing.T, src *store, m *set.Manifest) (size int64) {
	for name, l := range tablesIn(m) {
		size = max(size, memoryOf(t, src, map[string]set.Table{name: l}))
	}
	return size
}
