package blocked_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/long"
)

func newGrowing(t testing.TB, keys uint64, rate float64) *blocked.Growing {
	t.Helper()
	g, err := blocked.NewGrowing(keys, rate)
	noError(t, err)
	return g
}

// addIfAbsent is AddIfAbsent, which must not fail.
func addIfAbsent(t testing.TB, g *blocked.Growing, key []byte) bool {
	t.Helper()
	absent, err := g.AddIfAbsent(key)
	noError(t, err)
	return absent
}

// regrown returns g after it was written and read.
func regrown(t testing.TB, g *blocked.Growing) *blocked.Growing {
	t.Helper()
	b := stored(t, g)
	b.WriteString("behind")
	read, err := blocked.ReadGrowing(b)
	noError(t, err)
	if b.String() != "behind" || read.Len() != g.Len() || read.Rate() != g.Rate() || read.Size() != g.Size() {
		t.Fatalf("%d bytes are left, want 6; %d keys, rate %g, %d bytes, want %d, %g, %d",
			b.Len(), read.Len(), read.Rate(), read.Size(), g.Len(), g.Rate(), g.Size())
	}
	return read
}

// growingKey returns key i. Keys have 8 to 47 bytes, except one of 0 bytes and one of 1 MiB.
func growingKey(i uint64) []byte {
	switch i {
	case 1:
		return nil
	case 2:
		return bytes.Repeat([]byte{'x'}, 1<<20)
	}
	return binary.LittleEndian.AppendUint64(bytes.Repeat([]byte{byte(i)}, int(i%40)), i*0x9e3779b97f4a7c15)
}

// checkGrown checks that the keys below n are in g.
func checkGrown(t testing.TB, g *blocked.Growing, n uint64) {
	t.Helper()
	for i := range n {
		if !g.Contains(growingKey(i)) {
			t.Fatalf("key %d of %d is denied", i, n)
		}
	}
}

// A Growing contains every added key, at any number of keys, and its false-positive rate is at most the requested
// one. AddIfAbsent returns the negation of Contains. The same holds after the filter was written and read.
func TestGrowingIsASetOfKeys(t *testing.T) {
	t.Parallel()
	type size struct {
		keys, first uint64
		rate        float64
	}
	sizes := []size{{0, 0, 0.01}, {1, 0, 1e-9}, {2, 1, 0.5}, {3, 2, 0.1}, {1000, 10, 0.01}, {30_000, 0, 1e-6}}
	if !long.Race && !testing.Short() {
		sizes = append(sizes, size{100_000, 1, 1e-4}, size{1_000_000, 0, 0.001}, size{1_000_000, 1_000_000, 0.01})
	}
	if long.Enabled() && !testing.Short() && !long.Race {
		sizes = append(sizes, size{10_000_000, 0, 0.001})
	}
	for _, tt := range sizes {
		t.Run(fmt.Sprintf("%d keys, first %d, rate %g", tt.keys, tt.first, tt.rate), func(t *testing.T) {
			rng, g := rand.New(rand.NewPCG(91, tt.keys)), newGrowing(t, tt.first, tt.rate)
			passed := uint64(0)
			for i := range tt.keys {
				key := growingKey(i)
				had := g.Contains(key)
				if had {
					passed++
				}
				if addIfAbsent(t, g, key) == had || !g.Contains(key) {
					t.Fatalf("key %d: Contains = %t, and then AddIfAbsent the same, or the key is not in", i, had)
				}
				if again := rng.Uint64N(i + 1); addIfAbsent(t, g, growingKey(again)) {
					t.Fatalf("key %d is added again", again)
				}
				if rng.Uint64N(tt.keys) < 2 {
					g = regrown(t, g)
				}
			}
			g = regrown(t, g)
			checkGrown(t, g, tt.keys)
			if g.Len() != tt.keys-passed {
				t.Errorf("Len = %d of %d keys, of which %d were taken for others", g.Len(), tt.keys, passed)
			}
			checkPassed(t, float64(passed), float64(tt.keys), tt.rate)
		})
	}
}

// checkPassed fails the test if more keys passed than expected, by over four standard deviations.
func checkPassed(t *testing.T, passed, of, rate float64) {
	t.Helper()
	if most := of*rate + 4*math.Sqrt(of*rate); passed > most {
		t.Errorf("%.0f of %.0f absent keys passed, want %.0f at most for a rate of %g", passed, of, most, rate)
	}
}

// A union has all keys of both chains, and continues to grow.
func TestGrowingUnion(t *testing.T) {
	t.Parallel()
	for _, keys := range []uint64{0, 3, 1000, 40_000} {
		a, b := newGrowing(t, 500, 0.01), newGrowing(t, 500, 0.01)
		for i := range keys {
			addIfAbsent(t, a, growingKey(i))
			addIfAbsent(t, b, growingKey(keys/2+i))
		}
		for len(b.Inspect()) < len(a.Inspect()) {
			addIfAbsent(t, b, growingKey(2*keys+b.Len()))
		}
		for len(a.Inspect()) < len(b.Inspect()) {
			addIfAbsent(t, a, growingKey(3*keys+a.Len()))
		}
		before := stored(t, b)
		noError(t, a.Union(b))
		if !bytes.Equal(before.Bytes(), stored(t, b).Bytes()) {
			t.Error("the other filter has changed")
		}
		checkGrown(t, regrown(t, a), keys+keys/2)
		// A common key is counted twice unless it is in the same filter of both chains.
		if got, want := float64(a.Len()), 1.5*float64(keys); got < 0.97*want-1 || got > 4./3*1.03*want+1 {
			t.Errorf("Len = %.0f, want about %.0f", got, want)
		}
	}
}

func TestGrowingRefuses(t *testing.T) {
	t.Parallel()
	grown := newGrowing(t, 1, 0.01)
	for i := range uint64(5) {
		addIfAbsent(t, grown, growingKey(i))
	}
	one := newGrowing(t, 1, 0.01)
	checkFailures(t, []failure{
		{"rate 0", errorOf(blocked.NewGrowing(0, 0)), "false-positive rate 0: must be 1e-9 to 0.5"},
		{"no number", errorOf(blocked.NewGrowing(0, math.NaN())), "false-positive rate NaN"},
		{"Grow with too high a rate", errorOf(blocked.Grow(newFilter(t, 10, 0.01), 0, 0.6)),
			"false-positive rate 0.6: must be 1e-9 to 0.5"},
		{"too many keys", errorOf(blocked.NewGrowing(1e12, 0.01)), "takes more than 256 GiB: use several (part of a Growing with a rate of 0.01)"},
		{"union of other length", one.Union(grown),
			"union of chains of 1 and 2 filters, with rates of 0.01 and 0.01: numbers and rates must be equal"},
		{"union of other rate", one.Union(newGrowing(t, 1, 0.02)), "with rates of 0.01 and 0.02"},
		{"union of other keys", one.Union(newGrowing(t, 1000, 0.01)),
			"union of filters of 1 and 28 lines, with k = 2 and 8: sizes and k must be equal"},
	})
}

// If there is no memory for a key, adding it returns an error, and it is not in the filter. All other keys are, and
// memory can become available later. The limit is the process's, so the test is not parallel.
func TestGrowingWithoutMemory(t *testing.T) {
	g, n := newGrowing(t, 100, 0.01), uint64(0)
	func() {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(10_000))
		for ; n < 1000; n++ {
			if err := g.Add(growingKey(n)); err != nil {
				if !strings.Contains(err.Error(), "the memory limit of Go's runtime is 10000 bytes") {
					t.Errorf("error %v", err)
				}
				break
			}
		}
	}()
	if n < 100 || n == 1000 || g.Contains(growingKey(n)) {
		t.Fatalf("%d keys were added, of 100; or that of the error was", n)
	}
	checkGrown(t, g, n)
	if !addIfAbsent(t, g, growingKey(n)) || !g.Contains(growingKey(n)) {
		t.Error("the key cannot be added later")
	}
}
