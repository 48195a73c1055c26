package table_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/sievetable/sievetable/table"
)

// Close waits for the last handle. Until then lookups work, and nobody gets another handle.
func TestCloseWaitsForHandles(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	contents := build(t, withBloom, pairs)
	synctest.Test(t, func(t *testing.T) {
		r := open(t, contents, nil)
		for range 3 {
			if err := r.Acquire(); err != nil {
				t.Fatal(err)
			}
		}
		closed := make(chan error, 1)
		go func() { closed <- r.Close() }()
		for range 3 {
			synctest.Wait()
			select {
			case err := <-closed:
				t.Fatalf("Close = %v while there are handles", err)
			default:
			}
			checkLookups(t, r, pairs)
			if a, c := r.Acquire(), r.Close(); a != table.ErrClosed || c != table.ErrClosed {
				t.Errorf("while Close waits: Acquire = %v, Close = %v, want ErrClosed", a, c)
			}
			r.Release()
		}
		if err := <-closed; err != nil {
			t.Errorf("Close = %v", err)
		}
		_, err := r.Get(pairs[0].Key)
		if a := r.Acquire(); a != table.ErrClosed || err != table.ErrClosed {
			t.Errorf("after Close: Acquire = %v, Get = %v, want ErrClosed", a, err)
		}
	})
}

// A Release without an Acquire is a mistake of the program, before and after Close.
func TestReleaseWithoutAcquire(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		r := open(t, build(t, nil, nil), nil)
		if closed {
			r.Close()
		}
		err := recovered(func() error {
			defer func() {
				if p := recover(); p != nil {
					panic(errors.New(p.(string)))
				}
			}()
			r.Release()
			return nil
		})
		if err == nil {
			t.Errorf("closed %v: Release without Acquire did not panic", closed)
		}
	}
}

// A table is replaced again and again under 16 goroutines, which see no error: each takes a
// handle on the current Reader for a lookup.
func TestTableIsReplacedUnderLookups(t *testing.T) {
	t.Parallel()
	pairs := numbered(300)
	contents := build(t, withBloom, pairs)
	cache := table.NewCache(1 << 20)
	o := &table.ReaderOptions{Cache: cache, CacheKey: "the table"}
	var current atomic.Pointer[table.Reader]
	current.Store(open(t, contents, o))
	var done atomic.Bool
	var users sync.WaitGroup
	for u := range 16 {
		users.Go(func() {
			for i := u; !done.Load(); i++ {
				if err := getCurrent(&current, pairs[i%len(pairs)].Key); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 30 {
		old := current.Swap(open(t, contents, o))
		if err := old.Close(); err != nil {
			t.Error(err)
		}
	}
	done.Store(true)
	users.Wait()
}

func getCurrent(current *atomic.Pointer[table.Reader], key []byte) error {
	r := current.Load()
	for r.Acquire() != nil {
		r = current.Load()
	}
	defer r.Release()
	v, err := r.Get(key)
	if err != nil || len(v) == 0 {
		return fmt.Errorf("Get(%q) = %q, %v", key, v, err)
	}
	return nil
}
