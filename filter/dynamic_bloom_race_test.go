package filter_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/filter"
)

// inGoroutines calls work in n goroutines at once, and waits for them.
func inGoroutines(n int, work func(g int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for g := range n {
		wg.Go(func() {
			<-start
			work(g)
		})
	}
	close(start)
	wg.Wait()
}

// No key is denied once Add has returned, while other goroutines add, ask, unite, copy and
// intersect with a filter that has all keys. At the end there are the bytes of one Generator.
func TestDynamicBloomDeniesNoKeyWhileOthersAdd(t *testing.T) {
	t.Parallel()
	const goroutines, each, bits = 4, 2000, 10
	rng := rand.New(rand.NewPCG(72, 1))
	keys := keysOfAnyLength(rng, goroutines*each)
	f, more := newDynamicBloom(t, goroutines*each, bits), newDynamicBloom(t, goroutines*each, bits)
	all := newDynamicBloom(t, goroutines*each, bits)
	for _, key := range keys {
		all.Add(key)
	}
	p := filter.NewBloom(bits)
	inGoroutines(goroutines, func(g int) {
		mine := keys[g*each : (g+1)*each]
		for i, key := range mine {
			if to := []*filter.DynamicBloom{f, more}[i%2]; i%3 == 0 {
				to.AddIfAbsent(key)
			} else {
				to.Add(key)
			}
			if i%100 == 99 {
				if f.Union(more) != nil || f.Intersect(all) != nil {
					t.Error("filters of equal sizes are refused")
				}
				checkContains(t, f.Contains, mine[:i+1])
				contents := f.Bytes()
				checkContains(t, func(key []byte) bool { return p.Contains(contents, key) }, mine[:i+1])
			}
		}
	})
	if !bytes.Equal(f.Bytes(), generated(bits, keys)) {
		t.Error("the filter is not that of its keys")
	}
}

func checkContains(t *testing.T, contains func(key []byte) bool, keys [][]byte) {
	t.Helper()
	for i, key := range keys {
		if !contains(key) {
			t.Errorf("key %d of %d is denied: %x", i, len(keys), key)
			return
		}
	}
}

// Of the goroutines that add the same absent key at once, at least one is told that it was absent.
// None is told so of a key that was there.
func TestAddIfAbsentTellsOneAtLeast(t *testing.T) {
	t.Parallel()
	const goroutines, keys = 4, 3000
	f := newDynamicBloom(t, keys, 10)
	for i := range keys {
		key := fmt.Append(nil, i)
		absent := !f.Contains(key)
		var told atomic.Int32
		inGoroutines(goroutines, func(int) {
			if f.AddIfAbsent(key) {
				told.Add(1)
			}
		})
		if got := told.Load(); (got > 0) != absent {
			t.Fatalf("%d of %d goroutines were told that %s was absent, and Contains was %v", got, goroutines, key, !absent)
		}
	}
}
