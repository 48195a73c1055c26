package set_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// outOf returns the names of the tables of Unavailable, in their order. Each error must be want.
func outOf(t *testing.T, s *set.Set, want error) (names []string) {
	t.Helper()
	for l, err := range s.Unavailable() {
		names = append(names, l.Name)
		if !errors.Is(err, want) {
			t.Errorf("the error of %q is %v, want %v", l.Name, err, want)
		}
	}
	return names
}

// checkOut checks which tables are out because of err.
func checkOut(t *testing.T, s *set.Set, err error, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, outOf(t, s, err)); diff != "" {
		t.Errorf("Unavailable (-want +got):\n%s", diff)
	}
}

// failingTables makes all reads of some tables fail, as long as they are in it.
func failingTables(out *atomic.Pointer[[]string], err error) func(context.Context, string, []byte, int64) (int, error, bool) {
	return func(_ context.Context, name string, _ []byte, _ int64) (int, error, bool) {
		return 0, err, slices.Contains(*out.Load(), name)
	}
}

// With OnLoss, Open and Swap go on without tables that cannot be opened. Their keys have no
// answer, all others have theirs, and when the tables are back, so are the answers.
func TestSetWithoutSomeTables(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 4, filtered)
	broken := errors.New("broken")
	var out atomic.Pointer[[]string]
	src.before = failingTables(&out, broken)
	out.Store(&[]string{"t001", "t003"})
	var told []string
	s := open(t, &set.Manifest{Tables: m.Tables[:3]}, src, &set.Options{OpenAll: true, OnLoss: func(l table.Loss) bool {
		told = append(told, l.File)
		return errors.Is(l.Err, broken)
	}})
	checkOut(t, s, broken, "t001")
	if err := s.Swap(background, m); err != nil {
		t.Fatal(err)
	}
	checkOut(t, s, broken, "t001", "t003")
	if diff := cmp.Diff([]string{"t001", "t001", "t003"}, told); diff != "" {
		t.Errorf("calls of OnLoss (-want +got):\n%s", diff)
	}
	for i := range 4 * perTable {
		lost := i/perTable%2 == 1
		value, err := s.Get(background, []byte(key(i)))
		if lost != errors.Is(err, broken) || lost == (string(value) == valueOf(i)) {
			t.Fatalf("Get(%s) = %q, %v; the table is out: %t", key(i), value, err, lost)
		}
		if may, err := s.MayContain(background, []byte(key(i))); lost != errors.Is(err, broken) || may == lost {
			t.Fatalf("MayContain(%s) = %t, %v; the table is out: %t", key(i), may, err, lost)
		}
	}
	checkUnanswered(t, s, broken, key(60), key(160))

	out.Store(&[]string{"t003"})
	checkGet(t, s, key(60), valueOf(60))
	checkOut(t, s, broken, "t003")
	if err := s.Reopen(background); !errors.Is(err, broken) {
		t.Errorf("Reopen = %v, want %v", err, broken)
	}
	out.Store(new([]string))
	if err := s.Reopen(background); err != nil {
		t.Errorf("Reopen = %v", err)
	}
	checkOut(t, s, nil)
}

// checkUnanswered checks which keys a GetMany of one key of each of four tables leaves without an answer.
func checkUnanswered(t *testing.T, s *set.Set, want error, unanswered ...string) {
	t.Helper()
	keys, got := bytesOf(key(0), key(60), key(100), key(160)), map[string]bool{}
	found, err := getMany(background, s, keys, &table.GetManyOptions{NoAnswer: func(i int, _ error) { got[string(keys[i])] = true }})
	if diff := cmp.Diff(unanswered, slices.Sorted(maps.Keys(got))); !errors.Is(err, want) || len(found)+len(got) != 4 || diff != "" {
		t.Errorf("GetMany finds %v, %v; keys without an answer (-want +got):\n%s", found, err, diff)
	}
}

// If OnLoss says no, Open and Swap fail with the error of the table. If ctx is done, it is not asked.
func TestOnLossThatSaysNo(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	broken := errors.New("broken")
	src.before = failing("t002", broken)
	asked := 0
	o := &set.Options{OpenAll: true, OnLoss: func(table.Loss) bool { asked++; return false }}
	if _, err := set.Open(background, m, src, o); !errors.Is(err, broken) {
		t.Errorf("Open = %v, want %v", err, broken)
	}
	s := open(t, &set.Manifest{Tables: m.Tables[:2]}, src, o)
	if err := s.Swap(background, m); !errors.Is(err, broken) || asked != 2 {
		t.Errorf("Swap = %v, want %v; OnLoss was called %d times, want 2", err, broken, asked)
	}
	checkOut(t, s, nil)
	ctx, cancel := context.WithCancel(background)
	src.before = func(context.Context, string, []byte, int64) (int, error, bool) { cancel(); return 0, broken, true }
	if _, err := set.Open(ctx, m, src, o); !errors.Is(err, context.Canceled) || asked != 2 {
		t.Errorf("Open = %v, want context.Canceled; OnLoss was called %d times, want 2", err, asked)
	}
}

// A table that is open and cannot be read is out too: keys that its filters rule out still have their
// answers, also while Reopen fails. A lookup that was given up leaves no table out.
func TestUnavailableAfterReads(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	broken := errors.New("broken")
	s := open(t, m, src, eager)
	src.before = func(ctx context.Context, _ string, _ []byte, _ int64) (int, error, bool) {
		return 0, ctx.Err(), ctx.Err() != nil
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	s.Get(ctx, []byte(key(3)))
	checkOut(t, s, nil)
	src.before = failing("t001", broken)
	checkOut(t, s, nil)
	for i := range 2 {
		if _, err := s.Get(background, []byte(key(60))); !errors.Is(err, broken) {
			t.Errorf("Get = %v, want %v", err, broken)
		}
		checkGet(t, s, key(60)+"x", "")
		checkOut(t, s, broken, "t001")
		if i == 0 && !errors.Is(s.Reopen(background), broken) {
			t.Error("Reopen of a table that cannot be read does not fail")
		}
	}
	src.before = nil
	checkGet(t, s, key(60), valueOf(60))
	checkOut(t, s, nil)
}

// Reopen opens a table that is open again, and closes what it was before. It reads no table that is
// not out.
func TestReopen(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, src, eager)
	memory := s.MemorySize()
	whole := src.files["t001"]
	src.files["t001"] = whole[:100]
	s.Get(background, []byte(key(60)))
	if err := s.Reopen(background); !errors.Is(err, set.ErrMismatch) {
		t.Errorf("Reopen = %v, want ErrMismatch: the table was cut", err)
	}
	checkOut(t, s, set.ErrMismatch, "t001")
	src.files["t001"] = whole
	src.reads.Store(0)
	for range 2 {
		if err := s.Reopen(background); err != nil || src.reads.Load() != 1 || s.MemorySize() != memory {
			t.Errorf("Reopen = %v, %d reads, want 1; %d bytes of open tables, want %d", err, src.reads.Load(), s.MemorySize(), memory)
		}
	}
	checkOut(t, s, nil)
}

// After Close, Unavailable and Reopen say so.
func TestUnavailableAfterClose(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	s := open(t, m, src, nil)
	s.Close()
	checkOut(t, s, table.ErrClosed, "")
	if err := s.Reopen(background); !errors.Is(err, table.ErrClosed) {
		t.Errorf("Reopen = %v, want ErrClosed", err)
	}
}

// An opening that panics leaves the table out, with what it panicked with.
func TestUnavailableAfterAPanic(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	src.before = func(context.Context, string, []byte, int64) (int, error, bool) { panic("no store") }
	s := open(t, m, src, nil)
	panicOf(func() { s.Get(background, []byte(key(3))) })
	var got []string
	for l, err := range s.Unavailable() {
		got = append(got, l.Name, err.Error())
	}
	if diff := cmp.Diff([]string{"t000", `set: table "t000": opening panicked: no store`}, got); diff != "" {
		t.Errorf("Unavailable (-want +got):\n%s", diff)
	}
	if got := panicOf(func() { s.Reopen(background) }); got != "no store" {
		t.Errorf("Reopen panics with %v, want what the Source panics with", got)
	}
}
