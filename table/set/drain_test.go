package set_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table/set"
)

// An Iter keeps the manifest that it began with, and Drain waits for it.
func TestSwapDuringIteration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		s := open(t, m, src, nil)
		it := s.NewIter(background, nil)
		it.First()
		noError(t, s.Swap(background, new(set.Manifest)))
		checkGet(t, s, key(0), "")
		n := 1
		for it.Next() {
			n++
		}
		if n != 3*perTable || it.Error() != nil {
			t.Errorf("%d entries, %v; want %d", n, it.Error(), 3*perTable)
		}
		checkError(t, "Drain", s.Drain(within(t, time.Second)), context.DeadlineExceeded, "")
		go func() { time.Sleep(time.Second); it.Close() }()
		checkTook(t, "Drain", time.Second, nil, func() error { return s.Drain(background) })
		if len(src.forgotten) != 3 {
			t.Errorf("%d tables forgotten, want 3", len(src.forgotten))
		}
	})
}

// Drain does not wait for tables that are again in use.
func TestDrainAfterSwapBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		s := open(t, m, src, eager)
		it := s.NewIter(background, nil)
		defer it.Close()
		noError(t, s.Swap(background, new(set.Manifest)))
		drained := make(chan error)
		go func() { drained <- s.Drain(background) }()
		synctest.Wait()
		noError(t, s.Swap(background, m))
		noError(t, <-drained)
		checkGet(t, s, key(60), valueOf(60))
	})
}

// If the Source is just forgetting a table, it is opened again afterwards.
func TestSwapToATableThatIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 1, filtered)
		s := open(t, m, src, eager)
		it := s.NewIter(background, nil)
		noError(t, s.Swap(background, new(set.Manifest)))
		src.forgetting = time.Second
		go it.Close()
		synctest.Wait()
		checkError(t, "Swap", s.Swap(within(t, time.Millisecond), m), context.DeadlineExceeded, "")
		checkTook(t, "Swap", time.Second-time.Millisecond, nil, func() error { return s.Swap(background, m) })
		checkGet(t, s, key(3), valueOf(3))
		checkEnd(t, s)
		if len(src.forgotten) != 2 {
			t.Errorf("the table was forgotten %d times, want 2", len(src.forgotten))
		}
	})
}

// After Drain, no read of an old table reaches the Source. Here reads take long, lookups end before their reads do,
// and old tables are deleted after each Drain.
func TestNoReadsAfterDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src := newStore()
		m := generation(t, src, 0)
		s := open(t, m, src, &set.Options{MemorySize: 20_000})
		src.before = doing(func() { time.Sleep(time.Duration(1+rand.IntN(20)) * time.Millisecond) }) // ignores contexts
		meanwhile(8, func(rng *rand.Rand) {
			ctx, cancel := context.WithTimeout(background, time.Duration(1+rng.IntN(40))*time.Millisecond)
			defer cancel()
			_, err := lookUp(ctx, s, rng.IntN(3), key(rng.IntN(4*perTable)), key(0), key(120))
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}, func() {
			for i := 1; i < rounds(20, 100); i++ {
				old := m
				m = generation(t, src, i)
				noError(t, errors.Join(s.Swap(background, m), s.Drain(background)))
				for _, table := range old.Tables {
					src.delete(table.Name)
				}
			}
		})
		checkEnd(t, s)
		checkDiff(t, "what went wrong", []string(nil), src.wrong)
	})
}
