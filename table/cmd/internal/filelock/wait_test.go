//go:build (unix && !solaris && !aix) || windows

package filelock

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Of many waiters only one holds the lock at a time, although each removes the lock file before it unlocks, like
// package partition.
func TestWaitExcludes(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	var holders, violations atomic.Int32
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for range 30 {
				unlock, err := Wait(t.Context(), name)
				if err != nil {
					t.Error(err)
					return
				}
				if holders.Add(1) > 1 {
					violations.Add(1)
				}
				time.Sleep(100 * time.Microsecond)
				holders.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if n := violations.Load(); n > 0 {
		t.Errorf("the lock had a second holder %d times", n)
	}
}

// Wait ends with its context.
func TestWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	openLock(t, name)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Wait(ctx, name); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait: %v, want %v", err, context.DeadlineExceeded)
	}
}
