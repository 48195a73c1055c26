// Package filtertest checks filters that are queried while they grow, for the tests of each kind, and has keys for
// tests of all kinds.
package filtertest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
)

// Keys returns n random keys of 0 to 39 bytes.
func Keys(rng *rand.Rand, n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = workload.RandomBytes(rng, rng.IntN(40))
	}
	return keys
}

// A Growing is a filter that is queried while it grows.
type Growing[F any] interface {
	Add(key []byte)
	AddIfAbsent(key []byte) bool
	Contains(key []byte) bool
	Union(other F) error
	Intersect(other F) error
	Bytes() []byte
}

// AtOnce calls work in n goroutines at once, and waits for them.
func AtOnce(n int, work func(g int)) {
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

// CheckContains fails the test if a key is ruled out.
func CheckContains(t testing.TB, contains func(key []byte) bool, keys [][]byte) {
	t.Helper()
	for i, key := range keys {
		if !contains(key) {
			t.Errorf("key %d of %d is ruled out: %x", i, len(keys), key)
			return
		}
	}
}

// CheckDeniesNoKey checks that no key is ruled out once Add has returned, while other goroutines add, query, unite,
// copy and intersect with a filter that contains all keys. It also checks that the order of operations does not
// change the final bytes. create returns an empty filter for n keys, and resume continues from Bytes.
func CheckDeniesNoKey[F Growing[F]](t testing.TB, rng *rand.Rand, create func(n uint64) F, resume func(contents []byte) (F, error)) {
	t.Helper()
	const goroutines, each = 4, 2000
	keys := Keys(rng, goroutines*each)
	f, more, all := create(goroutines*each), create(goroutines*each), create(goroutines*each)
	for _, key := range keys {
		all.Add(key)
	}
	AtOnce(goroutines, func(g int) {
		mine := keys[g*each : (g+1)*each]
		for i, key := range mine {
			if to := []F{f, more}[i%2]; i%3 == 0 {
				to.AddIfAbsent(key)
			} else {
				to.Add(key)
			}
			if i%100 < 99 {
				continue
			}
			if f.Union(more) != nil || f.Intersect(all) != nil {
				t.Error("filters of equal sizes are refused")
			}
			CheckContains(t, f.Contains, mine[:i+1])
			resumed, err := resume(f.Bytes())
			if err != nil {
				t.Error(err)
				return
			}
			CheckContains(t, resumed.Contains, mine[:i+1])
		}
	})
	if !bytes.Equal(f.Bytes(), all.Bytes()) {
		t.Error("the filter is not that of its keys")
	}
}

// CheckAddIfAbsent checks that if goroutines add one absent key at once, AddIfAbsent returns true to at least one of
// them, and to none if the key was present before. create returns an empty filter for n keys.
func CheckAddIfAbsent[F Growing[F]](t testing.TB, create func(n uint64) F) {
	t.Helper()
	const goroutines, keys = 4, 3000
	f := create(keys)
	for i := range keys {
		key := fmt.Append(nil, i)
		absent := !f.Contains(key)
		var told atomic.Int32
		AtOnce(goroutines, func(int) {
			if f.AddIfAbsent(key) {
				told.Add(1)
			}
		})
		if got := told.Load(); (got > 0) != absent {
			t.Fatalf("%d of %d goroutines were told that %s was absent, and Contains was %v", got, goroutines, key, !absent)
		}
	}
}
