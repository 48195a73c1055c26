package set_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table/set"
)

// An Iter goes on with the manifest that it began with, and Drain waits for it.
func TestSwapDuringIteration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		s := open(t, m, src, nil)
		it := s.NewIter(background, nil)
		it.First()
		if err := s.Swap(background, new(set.Manifest)); err != nil {
			t.Fatal(err)
		}
		checkGet(t, s, key(0), "")
		n := 1
		for it.Next() {
			n++
		}
		if n != 3*perTable || it.Error() != nil {
			t.Errorf("%d entries, %v; want %d", n, it.Error(), 3*perTable)
		}
		drained := make(chan error)
		go func() { drained <- s.Drain(background) }()
		synctest.Wait()
		select {
		case err := <-drained:
			t.Errorf("Drain = %v while an Iter uses the tables", err)
		default:
		}
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		if err := s.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain = %v, want DeadlineExceeded", err)
		}
		it.Close()
		if err := <-drained; err != nil || len(src.forgotten) != 3 {
			t.Errorf("Drain = %v, %d tables forgotten; want 3", err, len(src.forgotten))
		}
	})
}

// Drain does not wait for tables that are in use again.
func TestDrainAfterSwapBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		s := open(t, m, src, eager)
		it := s.NewIter(background, nil)
		defer it.Close()
		if err := s.Swap(background, new(set.Manifest)); err != nil {
			t.Fatal(err)
		}
		drained := make(chan error)
		go func() { drained <- s.Drain(background) }()
		synctest.Wait()
		if err := s.Swap(background, m); err != nil {
			t.Fatal(err)
		}
		if err := <-drained; err != nil {
			t.Error(err)
		}
		checkGet(t, s, key(60), valueOf(60))
	})
}

// A table that the Source is just forgetting is opened again when that is over.
func TestSwapToATableThatIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 1, filtered)
		s := open(t, m, src, eager)
		it := s.NewIter(background, nil)
		if err := s.Swap(background, new(set.Manifest)); err != nil {
			t.Fatal(err)
		}
		src.forgetting = time.Second
		go it.Close()
		synctest.Wait()
		start := time.Now()
		ctx, cancel := context.WithTimeout(background, time.Millisecond)
		defer cancel()
		if err := s.Swap(ctx, m); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Swap = %v, want DeadlineExceeded", err)
		}
		if err := s.Swap(background, m); err != nil || time.Since(start) != time.Second {
			t.Errorf("Swap = %v after %v, want nil after 1 s", err, time.Since(start))
		}
		checkGet(t, s, key(3), valueOf(3))
		if err := errors.Join(s.Close(), s.Drain(background)); err != nil || len(src.forgotten) != 2 {
			t.Errorf("Close and Drain = %v, the table was forgotten %d times, want 2", err, len(src.forgotten))
		}
	})
}

// The law of Drain: after it no read of an old table reaches the Source. Here reads take long,
// lookups end before their reads do, and old tables are deleted after each Drain.
func TestNoReadsAfterDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := generation(t, newStore(), 0)
		s := open(t, m, src, &set.Options{MemorySize: 20_000})
		rng := rand.New(rand.NewPCG(17, 4))
		src.before = func(context.Context, string, []byte, int64) (int, error, bool) { // deaf to contexts
			time.Sleep(time.Duration(1+rand.IntN(20)) * time.Millisecond)
			return 0, nil, false
		}
		stop := make(chan bool)
		var lookups sync.WaitGroup
		for range 8 {
			seed := rng.Uint64()
			lookups.Go(func() { lookUntil(t, s, rand.New(rand.NewPCG(seed, 0)), stop) })
		}
		for i := 1; i < rounds(20, 100); i++ {
			old := m
			_, m = generation(t, src, i)
			if err := s.Swap(background, m); err != nil {
				t.Error(err)
			}
			if err := s.Drain(background); err != nil {
				t.Error(err)
			}
			for _, table := range old.Tables {
				src.delete(table.Name)
			}
		}
		close(stop)
		lookups.Wait()
		if err := errors.Join(s.Close(), s.Drain(background)); err != nil {
			t.Error(err)
		}
		for _, wrong := range src.wrong {
			t.Error(wrong)
		}
	})
}

// lookUntil looks keys up until stop is closed, often with little time.
func lookUntil(t *testing.T, s *set.Set, rng *rand.Rand, stop chan bool) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		ctx, cancel := context.WithTimeout(background, time.Duration(1+rng.IntN(40))*time.Millisecond)
		k := []byte(key(rng.IntN(4 * perTable)))
		var err error
		switch rng.IntN(3) {
		case 0:
			_, err = s.Get(ctx, k)
		case 1:
			_, err = getMany(ctx, s, [][]byte{k, []byte(key(0)), []byte(key(120))}, nil)
		default:
			it := s.NewIter(ctx, nil)
			for range 20 {
				it.Next()
			}
			err = it.Close()
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
	}
}
