package set_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/sievetable/sievetable/table/set"
)

// A forgetting is a Source that calls a function before it forgets a table.
type forgetting struct {
	*pinned
	before func()
}

func (s *forgetting) Forget(name string) {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	s.pinned.Forget(name)
}

// A table is replaced, and the Set makes the Source forget it. Before the Source does so, a lookup opens the old
// table, which is back for a moment. Afterwards the Set returns no values of the new table, although the Source then
// reads it without an error.
func TestTableOpenedBeforeItIsForgotten(t *testing.T) {
	t.Parallel()
	old, line := writtenTable(t, "old")
	replacement, _ := writtenTable(t, "new")
	contents := newObjects(map[string][]byte{"t": old})
	src := &forgetting{pinned: newPinned(contents)}
	s := open(t, manifestOf(line), src, nil)
	checkGet(t, s, key(7), "old")
	opened := false
	src.before = func() {
		contents.replace("t", old)
		for range 2 { // the first lookup finds that the table is being forgotten
			v, err := s.Get(background, []byte(key(7)))
			opened = err == nil && string(v) == "old"
		}
		contents.replace("t", replacement)
	}
	contents.replace("t", replacement)
	for range 3 {
		if v, err := s.Get(background, []byte(key(40))); !errors.Is(err, set.ErrMismatch) && !errors.Is(err, set.ErrReplaced) {
			t.Errorf("after the replacement: Get = %q, %v; want ErrMismatch or ErrReplaced", v, err)
		}
	}
	if !opened {
		t.Fatal("no lookup has opened the table before it was forgotten")
	}
}

// A watched is a Source that calls a function after a read.
type watched struct {
	*pinned
	after func()
}

func (s *watched) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	n, err := s.pinned.ReadAt(ctx, name, p, off)
	if after := s.after; after != nil {
		s.after = nil
		after()
	}
	return n, err
}

// A table is opened, but the only lookup has given up meanwhile. If the table cannot be identified and is then
// replaced, the next lookup opens the new one, since no lookup has read the old one.
func TestTableReplacedAfterAnAbandonedOpening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		contents, line := describedTable(t, "one")
		src := &watched{pinned: newPinned(newObjects(map[string][]byte{"t": contents}))}
		s := open(t, manifestOf(line), src, nil)
		ctx, cancel := context.WithCancel(t.Context())
		abandoned := make(chan bool)
		src.after = func() {
			cancel()
			<-abandoned
		}
		_, err := s.Get(ctx, []byte(key(7)))
		checkError(t, "Get", err, context.Canceled, "")
		close(abandoned)
		synctest.Wait() // until the opening has ended
		src.replace("t", contents)
		checkGet(t, s, key(7), "one")
	})
}
