package set_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table/set"
)

// A table is opened at its first lookup, once for all lookups.
func TestOpenAtTheFirstLookup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		src.latency = time.Second
		s := open(t, m, src, nil)
		if got := src.reads.Load(); got != 0 {
			t.Errorf("%d reads of Open, want 0", got)
		}
		var lookups sync.WaitGroup
		for range 20 {
			lookups.Go(func() { checkGet(t, s, key(60)+"x", "") })
		}
		lookups.Wait()
		if got := src.reads.Load(); got != 1 {
			t.Errorf("%d reads, want 1: one table was asked", got)
		}
	})
}

// Who gives up leaves the opening to the others. When all have given up, the opening ends, and
// the next lookup begins another one.
func TestGivingUpAnOpening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 1, filtered)
		s := open(t, m, src, nil)
		src.latency = time.Second
		ended := 0
		src.before = func(ctx context.Context, _ string, _ []byte, _ int64) (int, error, bool) {
			context.AfterFunc(ctx, func() { ended++ })
			return 0, nil, false
		}
		var lookups sync.WaitGroup
		ask := func(wait, want time.Duration) {
			lookups.Go(func() {
				ctx, cancel := context.WithTimeout(background, wait)
				defer cancel()
				start := time.Now()
				may, err := s.MayContain(ctx, []byte(key(3)))
				if took := time.Since(start); took != want || (want == wait) != errors.Is(err, context.DeadlineExceeded) || may == (want == wait) {
					t.Errorf("%v: MayContain = %t, %v after %v; want %v", wait, may, err, took, want)
				}
			})
		}
		ask(100*time.Millisecond, 100*time.Millisecond)
		ask(200*time.Millisecond, 200*time.Millisecond)
		lookups.Wait()
		synctest.Wait()
		if got := src.reads.Load(); got != 1 || ended != 1 {
			t.Errorf("%d reads, %d ended; want 1 and 1", got, ended)
		}
		ask(100*time.Millisecond, 100*time.Millisecond)
		ask(5*time.Second, time.Second)
		lookups.Wait()
		if got := src.reads.Load(); got != 2 {
			t.Errorf("%d reads, want 2", got)
		}
	})
}

// An opening that has failed is tried again by the next lookup.
func TestOpeningIsTriedAgain(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	s := open(t, m, src, nil)
	broken := errors.New("broken")
	src.before = failing("t001", broken)
	for range 2 {
		if _, err := s.Get(background, []byte(key(60))); !errors.Is(err, broken) {
			t.Errorf("Get = %v, want %v", err, broken)
		}
		if it := s.NewIter(background, nil); it.SeekGE([]byte(key(60))) || !errors.Is(it.Close(), broken) {
			t.Error("an Iter over a broken table does not fail")
		}
	}
	checkGet(t, s, key(40), "value of 40")
	src.before = nil
	checkGet(t, s, key(60), "value of 60")
}

// At most Concurrency tables are opened at a time, by default 16. Each takes a second here.
func TestConcurrencyOfOpenings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                string
		tables, concurrency int
		want                time.Duration
	}{
		{"20 tables, 4 at a time", 20, 4, 5 * time.Second},
		{"as many as the default", 16, 0, time.Second},
		{"one more than the default", 17, 0, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src, m := numberedSet(t, tt.tables, filtered)
				src.latency = time.Second
				for _, openAll := range []bool{true, false} {
					start := time.Now()
					s := open(t, m, src, &set.Options{Concurrency: tt.concurrency, OpenAll: openAll})
					var keys [][]byte
					for i := range tt.tables {
						keys = append(keys, []byte(key(i*perTable)+"x"))
					}
					if _, err := getMany(background, s, keys, nil); err != nil {
						t.Error(err)
					}
					if took := time.Since(start); took != tt.want {
						t.Errorf("OpenAll %t: %v to open all tables, want %v", openAll, took, tt.want)
					}
				}
			})
		})
	}
}

// The Source of a lookup may panic or end the goroutine: the lookup does too, or fails.
func TestOpeningThatPanics(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	s := open(t, m, src, nil)
	var fault atomic.Value
	fault.Store(func() { panic("no store") })
	src.before = func(context.Context, string, []byte, int64) (int, error, bool) {
		fault.Load().(func())()
		return 0, nil, false
	}
	for range 2 {
		if got := panicOf(func() { s.Get(background, []byte(key(60))) }); got != "no store" {
			t.Errorf("Get panics with %v, want what the Source panics with", got)
		}
		if got := panicOf(func() { getMany(background, s, bytesOf(key(0), key(60)), nil) }); got != "no store" {
			t.Errorf("GetMany panics with %v, want what the Source panics with", got)
		}
	}
	fault.Store(runtime.Goexit)
	if _, err := s.Get(background, []byte(key(60))); err == nil {
		t.Error("a Source that ends the goroutine: no error")
	}
	fault.Store(func() {})
	checkGet(t, s, key(60), "value of 60")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Drain(background); err != nil {
		t.Error(err)
	}
}

// panicOf returns what f panics with.
func panicOf(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}

// A Source that does not end the read of an opening that all have given up does not hold up the
// next lookup.
func TestLookupDoesNotWaitForAnOpeningThatWasGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 1, filtered)
		s := open(t, m, src, nil)
		src.before = func(context.Context, string, []byte, int64) (int, error, bool) {
			if src.reads.Load() == 1 {
				time.Sleep(time.Hour)
			}
			return 0, nil, false
		}
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		start := time.Now()
		if _, err := s.Get(ctx, []byte(key(3))); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Get = %v, want DeadlineExceeded", err)
		}
		checkGet(t, s, key(3), valueOf(3))
		if took := time.Since(start); took != time.Second {
			t.Errorf("two lookups took %v, want 1 s", took)
		}
		if err := errors.Join(s.Close(), s.Drain(background)); err != nil || s.MemorySize() != 0 {
			t.Errorf("Close and Drain = %v; %d bytes of open tables, want 0", err, s.MemorySize())
		}
	})
}

// An Open that fails returns when nothing reads the Source any more.
func TestOpenThatFailsWaitsForItsReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		broken := errors.New("broken")
		src.before = func(_ context.Context, name string, _ []byte, _ int64) (int, error, bool) {
			if name == "t000" {
				synctest.Wait() // the other tables are read too
				return 0, broken, true
			}
			time.Sleep(time.Second)
			return 0, nil, false
		}
		start := time.Now()
		_, err := set.Open(background, m, src, eager)
		if took := time.Since(start); !errors.Is(err, broken) || took != time.Second || len(src.forgotten) != 3 {
			t.Errorf("Open = %v after %v, %d tables forgotten; want %v after 1 s, and 3", err, took, len(src.forgotten), broken)
		}
	})
}
