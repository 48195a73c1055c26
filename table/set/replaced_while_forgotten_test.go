package set_test

import (
	"errors"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// A forgetting is a Source that does something else before it forgets a table.
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

// A table is replaced, and one Set lets the Source forget it. Before the Source does so, another Set of
// that Source opens the old table, which is there again for a moment. That Set shows no values of the
// new table, although the Source reads that from then on without an error.
func TestTableOpenedBeforeItIsForgotten(t *testing.T) {
	t.Parallel()
	old, line := writtenTable(t, "old")
	replacement, _ := writtenTable(t, "new")
	contents := &files{current: map[string][]byte{"t": old}}
	src := &forgetting{pinned: &pinned{files: contents, first: map[string][]byte{}}}
	m := &set.Manifest{Tables: []set.Table{line}}
	one := open(t, m, src, nil)
	checkGet(t, one, key(7), "old")
	var other *set.Set
	src.before = func() {
		contents.replace("t", old)
		other = open(t, m, src, eager)
		checkGet(t, other, key(7), "old")
		contents.replace("t", replacement)
	}
	contents.replace("t", replacement)
	if v, err := one.Get(background, []byte(key(40))); !errors.Is(err, set.ErrMismatch) && !errors.Is(err, set.ErrReplaced) {
		t.Errorf("after the replacement: Get = %q, %v; want ErrMismatch or ErrReplaced", v, err)
	}
	if other == nil {
		t.Fatal("the Source was not let forget the table")
	}
	for range 2 {
		if v, err := other.Get(background, []byte(key(40))); !errors.Is(err, set.ErrMismatch) && !errors.Is(err, set.ErrReplaced) {
			t.Errorf("in the other Set: Get = %q, %v; want ErrMismatch or ErrReplaced", v, err)
		}
	}
}
