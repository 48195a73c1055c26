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

// Of many that wait for a lock, one has it at a time, though each removes the lock file before it ends the lock, as
// package partition does too.
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
		t.Errorf("%d times another one had the lock too", n)
	}
}

// What waits for a lock ends with its context.
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
