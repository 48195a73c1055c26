package paged_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// Building a filter takes 8 bytes for each key, and the filter. This measures the allocations of the process, so it
// is not parallel.
func TestMemoryOfBuilding(t *testing.T) {
	long.NoRace(t)
	keys := numbered(1, 1_000_000)
	for _, bitsPerKey := range []int{10, 20} {
		runtime.GC() // twice, to empty the pools too
		runtime.GC()
		size := 0
		got := filtertest.AllocatedBy(func() { size = len(build(t, bitsPerKey, keys)) })
		if most := uint64(size+8*len(keys)) * 102 / 100; got > most {
			t.Errorf("%d bits: %d bytes were allocated, want at most %d", bitsPerKey, got, most)
		}
	}
}

// A trailer with a valid checksum that claims a large filter takes no memory.
func TestNoMemoryOnTheWordOfATrailer(t *testing.T) {
	p := plain{pages: 1 << 28, keys: math.MaxUint64, lgPage: 12, hash: 1, k: 255, format: 1}
	contents := append(make([]byte, 4096), p.trailer()...)
	got := filtertest.AllocatedBy(func() {
		if _, err := (paged.Policy{}).Open(contents); err == nil {
			t.Error("Open returns no error")
		}
		if _, err := paged.ReadShape(p.trailer(), 1<<40+36); err != nil { // the size is possible
			t.Error(err)
		}
	})
	if got > 1<<16 {
		t.Errorf("%d bytes were allocated", got)
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	contents := build(t, 10, numbered(1, 12_000))
	keys := numbered(1, 100)
	f, s := open(t, contents), newReader(t, contents)
	if n := testing.AllocsPerRun(10, func() {
		for _, key := range keys {
			f.Contains(key)
			h := s.Hash(key)
			page := s.Page(h)
			if b := contents[page*4096:][:4096]; s.CheckPage(b, page) != nil || !s.InPage(b, h) {
				t.Fatal("a key is denied")
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
