package blocked_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// keysOf returns n keys whose hashes pass.
func keysOf(n int, pass func(h uint64) bool) [][]byte {
	var keys [][]byte
	for i := uint64(0); len(keys) < n; i++ {
		if key := binary.BigEndian.AppendUint64(nil, i); pass(xxh3.Hash(key)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Several goroutines add the same keys at once, each in its own order, while the chain grows and the filter is written
// and united. AddIfAbsent is true for exactly one goroutine per key, and Contains is true for the key from then on.
func TestGrowingTellsExactlyOne(t *testing.T) {
	t.Parallel()
	rounds, most := 40, 40_000
	if long.Race {
		rounds, most = 15, 8000
	}
	any := func(uint64) bool { return true }
	oneClaim := func(h uint64) bool { return h%256 == 7 }
	for name, tt := range map[string]struct {
		keys, rounds int
		pass         func(h uint64) bool
	}{
		"few keys":     {5, 10 * rounds, any},
		"of one claim": {300, rounds, oneClaim},
		"many keys":    {most, 5, any},
	} {
		t.Run(name, func(t *testing.T) {
			keys := keysOf(tt.keys, tt.pass)
			for round := range tt.rounds {
				tellsExactlyOne(t, newGrowing(t, 1, 1e-9), keys, uint64(round))
			}
		})
	}
}

func tellsExactlyOne(t *testing.T, g *blocked.Growing, keys [][]byte, seed uint64) {
	t.Helper()
	const goroutines = 8
	told := make([]atomic.Int32, len(keys))
	filtertest.AtOnce(goroutines, func(goroutine int) {
		rng := rand.New(rand.NewPCG(seed, uint64(goroutine/2))) // the same order for every two of them
		for _, i := range rng.Perm(len(keys)) {
			absent, err := g.AddIfAbsent(keys[i])
			if err != nil {
				t.Error(err)
			}
			if absent {
				told[i].Add(1)
			}
			if !g.Contains(keys[i]) {
				t.Errorf("key %d is denied after AddIfAbsent = %t", i, absent)
			}
		}
	})
	for i := range told {
		if got := told[i].Load(); got != 1 {
			t.Fatalf("%d goroutines were told that key %d of %d was absent, want 1", got, i, len(keys))
		}
	}
	if got := g.Len(); got != uint64(len(keys)) {
		t.Errorf("Len = %d, want %d", got, len(keys))
	}
}

// No key is ruled out once its Add has returned, while other goroutines add, look up, write, read and unite.
func TestGrowingDeniesNoKeyWhileOthersAdd(t *testing.T) {
	t.Parallel()
	const goroutines, each = 4, 6000
	g, keys := newGrowing(t, 100, 0.01), keysOf(goroutines*each, func(uint64) bool { return true })
	filtertest.AtOnce(goroutines, func(n int) {
		mine := keys[n*each : (n+1)*each]
		for i, key := range mine {
			if err := g.Add(key); err != nil {
				t.Error(err)
			}
			if i%500 < 499 {
				continue
			}
			filtertest.CheckContains(t, g.Contains, mine[:i+1])
			var b bytes.Buffer
			if _, err := g.WriteTo(&b); err != nil {
				t.Error(err)
			}
			read, err := blocked.ReadGrowing(&b)
			if err != nil {
				t.Error(err)
				return
			}
			filtertest.CheckContains(t, read.Contains, mine[:i+1])
			if err := g.Union(read); err == nil { // both have grown equally often
				filtertest.CheckContains(t, g.Contains, mine[:i+1])
			}
		}
	})
	filtertest.CheckContains(t, g.Contains, keys)
}
