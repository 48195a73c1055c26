package blocked_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/filter/blocked"
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

// No key is denied once Add has returned, while other goroutines add, ask, unite, store and
// intersect with a filter that has all keys. The order makes no difference to the bytes at the end.
func TestDeniesNoKeyWhileOthersAdd(t *testing.T) {
	t.Parallel()
	const goroutines, each = 4, 2000
	rng := rand.New(rand.NewPCG(82, 1))
	keys := keysOfAnyLength(rng, goroutines*each)
	f, more := newFilter(t, goroutines*each, 0.01), newFilter(t, goroutines*each, 0.01)
	all := newFilter(t, goroutines*each, 0.01)
	for _, key := range keys {
		all.Add(key)
	}
	inGoroutines(goroutines, func(g int) {
		mine := keys[g*each : (g+1)*each]
		for i, key := range mine {
			if to := []*blocked.Filter{f, more}[i%2]; i%3 == 0 {
				to.AddIfAbsent(key)
			} else {
				to.Add(key)
			}
			if i%100 == 99 {
				if f.Union(more) != nil || f.Intersect(all) != nil {
					t.Error("filters of equal sizes are refused")
				}
				checkContains(t, f.Contains, mine[:i+1])
				resumed, err := blocked.Open(f.Bytes())
				if err != nil {
					t.Error(err)
					return
				}
				checkContains(t, resumed.Contains, mine[:i+1])
			}
		}
	})
	if !bytes.Equal(f.Bytes(), all.Bytes()) {
		t.Error("the filter is not that of its keys")
	}
}

// What is written while others add has a checksum of what was written.
func TestWriteToIsSoundWhileOthersAdd(t *testing.T) {
	t.Parallel()
	f := newFilter(t, 200_000, 0.01)
	var done atomic.Bool
	inGoroutines(3, func(g int) {
		if g > 0 {
			for h := uint64(g); !done.Load(); h += 0x9e3779b97f4a7c15 {
				f.AddHash(h)
			}
			return
		}
		defer done.Store(true)
		for range 20 {
			r, w := io.Pipe()
			go func() {
				_, err := f.WriteTo(w)
				w.CloseWithError(err)
			}()
			if _, err := blocked.Read(r); err != nil {
				t.Error(err)
			}
		}
	})
}

// Of the goroutines that add the same absent key at once, at least one is told that it was absent.
// None is told so of a key that was there.
func TestAddIfAbsentTellsOneAtLeast(t *testing.T) {
	t.Parallel()
	const goroutines, keys = 4, 3000
	f, rng := newFilter(t, keys, 0.01), rand.New(rand.NewPCG(82, 2))
	for range keys {
		h := rng.Uint64()
		absent := !f.ContainsHash(h)
		var told atomic.Int32
		inGoroutines(goroutines, func(int) {
			if f.AddHashIfAbsent(h) {
				told.Add(1)
			}
		})
		if got := told.Load(); (got > 0) != absent {
			t.Fatalf("%d goroutines were told that a key was absent, and Contains was %v", got, !absent)
		}
	}
}
