package set_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// After Close, everything fails with ErrClosed, even an Iter created before.
func TestAfterCloseAllFails(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, src, eager)
	inTable, atEnd := s.NewIter(background, nil), s.NewIter(background, nil)
	inTable.First()
	atEnd.SeekGE([]byte(key(perTable - 1)))
	noError(t, s.Close())
	it := s.NewIter(background, nil)
	_, mayErr := s.MayContain(background, []byte(key(0)))
	var unanswered []error
	o := &table.GetManyOptions{NoAnswer: func(_ int, err error) { unanswered = append(unanswered, err) }}
	for name, err := range map[string]error{
		"Get":                     getOf(0)(s),
		"Get outside of ranges":   getOf(4 * perTable)(s),
		"GetMany":                 s.GetMany(background, bytesOf(key(0), "zz"), o, nil),
		"MayContain":              mayErr,
		"Verify":                  s.Verify(background, nil),
		"FilterErr":               s.FilterErr(),
		"Reopen":                  s.Reopen(background),
		"Swap":                    s.Swap(background, m),
		"Close":                   s.Close(),
		"First of a new Iter":     moved(it, it.First()),
		"Last":                    moved(inTable, inTable.Last()),
		"Next to another table":   moved(atEnd, atEnd.Next()),
		"SeekGE after that":       moved(atEnd, atEnd.SeekGE([]byte(key(3)))),
		"SeekLT":                  moved(it, it.SeekLT([]byte(key(3)))),
		"the Close of a new Iter": it.Close(),
	} {
		checkError(t, name, err, table.ErrClosed, "")
	}
	checkDiff(t, "NoAnswer", []error{table.ErrClosed, table.ErrClosed}, unanswered, cmpopts.EquateErrors())
	checkUnavailable(t, s, table.ErrClosed, "")
	checkDiff(t, "Manifest", (*set.Manifest)(nil), s.Manifest())
	inTable.Close()
	atEnd.Close()
	if err := s.Drain(background); err != nil || len(src.forgotten) != 3 || s.MemorySize() != 0 {
		t.Errorf("Drain = %v; %d tables forgotten, want 3; %d bytes of open tables, want 0", err, len(src.forgotten), s.MemorySize())
	}
}

// moved returns the error of a move, or nil if it found an entry.
func moved(it *set.Iter, found bool) error {
	if found {
		return nil
	}
	return it.Error()
}

// Close does not wait for running lookups, which still succeed. Drain waits for them.
func TestCloseDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		s := open(t, m, src, eager)
		lazy := open(t, m, src, nil)
		src.latency = time.Second
		var lookups sync.WaitGroup
		lookups.Go(func() { checkGet(t, s, key(60), valueOf(60)) })
		lookups.Go(func() { checkGet(t, lazy, key(60), valueOf(60)) })
		lookups.Go(func() {
			found, err := getMany(background, s, bytesOf(key(1), key(60), key(120)), nil)
			if len(found) != 3 || err != nil {
				t.Errorf("GetMany = %v, %v", found, err)
			}
		})
		synctest.Wait()
		checkTook(t, "Close", 0, nil, func() error { return errors.Join(s.Close(), lazy.Close()) })
		checkTook(t, "Drain, of a time", time.Millisecond, context.DeadlineExceeded, func() error {
			return s.Drain(within(t, time.Millisecond))
		})
		checkTook(t, "Drain", 2*time.Second-time.Millisecond, nil, func() error { // to open a table and to read
			return errors.Join(s.Drain(background), lazy.Drain(background))
		})
		checkTook(t, "waiting for the answers", 0, nil, func() error { lookups.Wait(); return nil })
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
		noError(t, s.Close())
		checkError(t, "Swap", <-swapped, table.ErrClosed, "")
		if err := s.Drain(background); err != nil || s.MemorySize() != 0 || len(src.forgotten) != 3 {
			t.Errorf("Drain = %v; %d bytes of open tables, want 0; %d tables forgotten, want 3", err, s.MemorySize(), len(src.forgotten))
		}
	})
}
