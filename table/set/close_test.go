package set_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// After Close everything fails with ErrClosed, also an Iter that was there before.
func TestAfterCloseAllFails(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, src, eager)
	inTable, atEnd := s.NewIter(background, nil), s.NewIter(background, nil)
	inTable.First()
	atEnd.SeekGE([]byte(key(perTable - 1)))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	it := s.NewIter(background, nil)
	_, getErr := s.Get(background, []byte(key(0)))
	_, outsideErr := s.Get(background, nil)
	_, manyErr := getMany(background, s, bytesOf(key(0)), nil)
	_, mayErr := s.MayContain(background, []byte(key(0)))
	for name, err := range map[string]error{
		"Get":                     getErr,
		"Get outside of ranges":   outsideErr,
		"GetMany":                 manyErr,
		"MayContain":              mayErr,
		"Verify":                  s.Verify(background, nil),
		"FilterErr":               s.FilterErr(),
		"Swap":                    s.Swap(background, m),
		"Close":                   s.Close(),
		"First of a new Iter":     moved(it, it.First()),
		"Last":                    moved(inTable, inTable.Last()),
		"Next to another table":   moved(atEnd, atEnd.Next()),
		"SeekGE after that":       moved(atEnd, atEnd.SeekGE([]byte(key(3)))),
		"SeekLT":                  moved(it, it.SeekLT([]byte(key(3)))),
		"the Close of a new Iter": it.Close(),
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(err, table.ErrClosed) {
				t.Errorf("%v, want ErrClosed", err)
			}
		})
	}
	if got := s.Manifest(); got != nil {
		t.Errorf("Manifest = %v, want nil", got)
	}
	inTable.Close()
	atEnd.Close()
	if err := s.Drain(background); err != nil || len(src.forgotten) != 3 || s.MemorySize() != 0 {
		t.Errorf("Drain = %v; %d tables forgotten, want 3; %d bytes of open tables, want 0", err, len(src.forgotten), s.MemorySize())
	}
}

// moved returns the error of a move, or nil if it has found an entry.
func moved(it *set.Iter, found bool) error {
	if found {
		return nil
	}
	return it.Error()
}

// Close does not wait for lookups: they still get their answers. Drain waits for them.
func TestCloseDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		s := open(t, m, src, eager)
		lazy := open(t, m, src, nil)
		src.latency = time.Second
		answered := make(chan bool, 3)
		go func() { checkGet(t, s, key(60), valueOf(60)); answered <- true }()
		go func() { checkGet(t, lazy, key(60), valueOf(60)); answered <- true }()
		go func() {
			found, err := getMany(background, s, bytesOf(key(1), key(60), key(120)), nil)
			if len(found) != 3 || err != nil {
				t.Errorf("GetMany = %v, %v", found, err)
			}
			answered <- true
		}()
		synctest.Wait()
		start := time.Now()
		if err := errors.Join(s.Close(), lazy.Close()); err != nil || time.Since(start) > 0 {
			t.Errorf("Close = %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(background, time.Millisecond)
		defer cancel()
		if err := s.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain = %v while lookups run, want DeadlineExceeded", err)
		}
		err := errors.Join(s.Drain(background), lazy.Drain(background))
		if took := time.Since(start); err != nil || took != 2*time.Second { // to open a table and to read
			t.Errorf("Drain = %v after %v, want 2 s", err, took)
		}
		if synctest.Wait(); len(answered) != 3 {
			t.Errorf("%d answers, want 3", len(answered))
		}
	})
}

// A Swap that opens a table during Close returns ErrClosed, and keeps nothing.
func TestCloseDuringSwap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		s := open(t, &set.Manifest{Tables: m.Tables[:1]}, src, eager)
		src.latency = time.Second
		swapped := make(chan error)
		go func() { swapped <- s.Swap(background, m) }()
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-swapped; !errors.Is(err, table.ErrClosed) {
			t.Errorf("Swap = %v, want ErrClosed", err)
		}
		if err := s.Drain(background); err != nil || s.MemorySize() != 0 || len(src.forgotten) != 3 {
			t.Errorf("Drain = %v; %d bytes of open tables, want 0; %d tables forgotten, want 3", err, s.MemorySize(), len(src.forgotten))
		}
	})
}
