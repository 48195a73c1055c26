package set_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
		checkReads(t, src, 0)
		var lookups sync.WaitGroup
		for range 20 {
			lookups.Go(func() { checkGet(t, s, key(60)+"x", "") })
		}
		lookups.Wait()
		checkReads(t, src, 1) // one table was queried
	})
}

// If a lookup gives up, others still wait for the opening. If all have given up, the opening ends, and the next
// lookup starts another one.
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
		ask := func(wait, want time.Duration, kind error) {
			ctx := within(t, wait)
			lookups.Go(func() {
				checkTook(t, "MayContain", want, kind, func() error {
					_, err := s.MayContain(ctx, []byte(key(3)))
					return err
				})
			})
		}
		ask(100*time.Millisecond, 100*time.Millisecond, context.DeadlineExceeded)
		ask(200*time.Millisecond, 200*time.Millisecond, context.DeadlineExceeded)
		lookups.Wait()
		synctest.Wait()
		if checkReads(t, src, 1); ended != 1 {
			t.Errorf("%d reads ended, want 1", ended)
		}
		ask(100*time.Millisecond, 100*time.Millisecond, context.DeadlineExceeded)
		ask(5*time.Second, time.Second, nil)
		lookups.Wait()
		checkReads(t, src, 1)
	})
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
		synctest.Test(t, func(t *testing.T) {
			src, m := numberedSet(t, tt.tables, filtered)
			src.latency = time.Second
			for _, openAll := range []bool{true, false} {
				checkTook(t, fmt.Sprintf("%s, OpenAll %t", tt.name, openAll), tt.want, nil, func() error {
					s := open(t, m, src, &set.Options{Concurrency: tt.concurrency, OpenAll: openAll})
					var keys [][]byte
					for _, k := range firstKeys(tt.tables) {
						keys = append(keys, append(k, 'x'))
					}
					_, err := getMany(background, s, keys, nil)
					return err
				})
			}
		})
	}
}

// If all lookups have given up an opening, and the Source does not end its read, the next lookup does not wait for
// it.
func TestLookupDoesNotWaitForAnOpeningThatWasGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 1, filtered)
		s := open(t, m, src, nil)
		src.before = doing(func() {
			if src.reads.Load() == 1 {
				time.Sleep(time.Hour)
			}
		})
		ctx := within(t, time.Second)
		checkTook(t, "Get", time.Second, context.DeadlineExceeded, func() error {
			_, err := s.Get(ctx, []byte(key(3)))
			return err
		})
		checkTook(t, "the next Get", 0, nil, func() error { return getOf(3)(s) })
		checkEnd(t, s)
	})
}

// A failed Open returns only when nothing reads the Source any more.
func TestOpenThatFailsWaitsForItsReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
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
