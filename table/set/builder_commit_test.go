package set_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A failed Commit leaves the set unchanged: the manifest never lists a table that does not exist.
func TestCommitThatFails(t *testing.T) {
	t.Parallel()
	same, dir := t.TempDir(), t.TempDir()
	buildSet(t, same, 25, "new")
	buildSet(t, dir, 25, "old")
	noError(t, os.Mkdir(filepath.Join(dir, names(t, same)[0]), 0o777)) // the name that a table will have
	misfit, checks := errors.New("does not fit any more"), 0
	fitsAtFirst := func(*set.Manifest) error {
		if checks++; checks > 1 {
			return misfit
		}
		return nil
	}
	for name, test := range map[string]struct {
		o    set.BuilderOptions
		n    int
		want error
	}{
		"a table cannot get its name": {set.BuilderOptions{}, 25, nil},
		"another set by then":         {set.BuilderOptions{Layer: true, Check: fitsAtFirst}, 5, misfit},
		"a set without tables":        {set.BuilderOptions{}, 0, set.ErrEmpty},
		"a layer without tables":      {set.BuilderOptions{Layer: true}, 0, set.ErrEmpty},
	} {
		m, files := readManifest(t, dir), names(t, dir)
		b := newBuilder(t, dir, test.o)
		appendKeys(t, b, test.n, "new")
		_, err := b.Commit()
		checkError(t, name+": Commit", err, test.want, "")
		noError(t, b.Abort())
		checkDiff(t, name+": manifest", m, readManifest(t, dir))
		checkDiff(t, name+": files", files, names(t, dir))
	}
}

// Publish without tables does not replace a set, unless that is empty or missing.
func TestPublishWithoutTables(t *testing.T) {
	t.Parallel()
	dir, empty := t.TempDir(), filepath.Join(t.TempDir(), "created")
	buildSet(t, dir, 25, "old")
	m := readManifest(t, dir)
	commit(t, newBuilder(t, empty, set.BuilderOptions{Part: 1})) // removes the directory
	checkError(t, "Publish", set.Publish(t.Context(), dirStore(dir), set.Layer{}, nil), set.ErrEmpty, "set.jsonl is unchanged")
	checkDiff(t, "manifest", m, readManifest(t, dir))
	for range 2 {
		noError(t, set.Publish(t.Context(), dirStore(empty), set.Layer{}, nil))
	}
	if m := readManifest(t, empty); len(m.Tables) > 0 {
		t.Errorf("tables %v, want none", m.Tables)
	}
	checkDiff(t, "files", []string{set.ManifestName}, names(t, empty))
}

// An entry that a Builder rejected is not lost silently: the error stays, and nothing is committed. So does an error of
// Commit: more entries would come after a table that is complete. Removals with only a filter are rejected, since
// lookups of the removed keys would fail.
func TestErrorsOfABuilderStay(t *testing.T) {
	t.Parallel()
	filters := set.BuilderOptions{Writer: &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}}
	ownTables := filters
	ownTables.NewTable = func(w io.Writer, _ bool) (set.TableAppender, error) { return set.NewTableWriter(w, filters.Writer) }
	checks := 0
	refusing := set.BuilderOptions{Check: func(*set.Manifest) error {
		if checks++; checks == 2 {
			return broken
		}
		return nil
	}}
	for name, test := range map[string]struct {
		o       set.BuilderOptions
		refused func(b *set.Builder) error
		want    error
		text    string
	}{
		"an entry out of order": {set.BuilderOptions{}, func(b *set.Builder) error { return b.Append([]byte("a"), nil) }, table.ErrOrder, ""},
		"a removal out of order": {set.BuilderOptions{}, func(b *set.Builder) error {
			return cmp.Or(b.Remove([]byte("c")), b.Remove([]byte("a")))
		}, table.ErrOrder, ""},
		"a removal without a key": {filters, func(b *set.Builder) error { return b.Remove([]byte("c")) },
			nil, "removals must contain keys, not only a filter"},
		"a removal without a key in an own table": {ownTables, func(b *set.Builder) error { return b.Remove([]byte("c")) },
			nil, "removals must contain keys, not only a filter"},
		"a Commit": {refusing, func(b *set.Builder) error {
			_, err := b.Commit()
			return err
		}, broken, ""},
	} {
		dir := t.TempDir()
		buildSet(t, dir, 1, "old")
		test.o.Layer = true
		b := newBuilder(t, dir, test.o)
		noError(t, b.Append([]byte("b"), nil))
		want := test.refused(b)
		checkError(t, name, want, test.want, test.text)
		_, err := b.Commit()
		if b.Append([]byte("d"), nil) != want || b.Remove([]byte("e")) != want || err != want {
			t.Errorf("%s: error %v, then of Commit %v", name, want, err)
		}
		checkDiff(t, name+": layers", []set.Layer(nil), readManifest(t, dir).Layers)
	}
}

// If Commit fails to write a table, the next Commit fails too, instead of leaving the table out.
func TestCommitAgain(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(to set.TableAppender) (set.TableAppender, error){
		"cannot start": func(set.TableAppender) (set.TableAppender, error) { return nil, errUnfinished },
		"cannot close": func(to set.TableAppender) (set.TableAppender, error) { return unfinished{to}, nil },
		"panics":       func(set.TableAppender) (set.TableAppender, error) { panic(errUnfinished) },
	} {
		dir, tables := t.TempDir(), 0
		buildSet(t, dir, 5, "old")
		m := readManifest(t, dir)
		newTable := func(w io.Writer, _ bool) (set.TableAppender, error) {
			to, err := set.NewTableWriter(w, nil)
			if tables++; tables == 2 && err == nil {
				return second(to)
			}
			return to, err
		}
		b := newBuilder(t, dir, set.BuilderOptions{EntriesPerTable: 10, NewTable: newTable})
		appendKeys(t, b, 25, "new")
		for n := range 2 {
			if err := commitOrPanic(b); err == nil {
				t.Errorf("%s: no error of Commit %d", name, n+1)
			}
		}
		checkDiff(t, name+": manifest", m, readManifest(t, dir))
	}
}

// commitOrPanic returns the error of Commit, or the value with which it panics.
func commitOrPanic(b *set.Builder) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	_, err = b.Commit()
	return err
}

// A leaseStore removes no files after a context has ended. It writes leases, but loses the responses if lost is not
// nil.
type leaseStore struct {
	replacingStore
	written func() // is called after a manifest was written
	lost    error
}

func (s *leaseStore) Put(ctx context.Context, name string, content []byte) error {
	return cmp.Or(s.replacingStore.Put(ctx, name, content), s.lost)
}

func (s *leaseStore) Replace(ctx context.Context, name string, old, content []byte) error {
	defer s.written()
	return s.replacingStore.Replace(ctx, name, old, content)
}

func (s *leaseStore) Remove(ctx context.Context, name string) error {
	return cmp.Or(ctx.Err(), s.replacingStore.Remove(ctx, name))
}

// Commit removes its lease, which would stop Sweep for a day, even if ctx has ended or writing the lease has failed.
func TestCommitRemovesLease(t *testing.T) {
	t.Parallel()
	for _, lost := range []error{nil, errCall} {
		ctx, cancel := context.WithCancel(t.Context())
		s := &leaseStore{replacingStore{newMemoryStore()}, cancel, lost}
		if err := buildIn(ctx, s, set.BuilderOptions{}, 5, 0, "v", true); !errors.Is(err, lost) {
			t.Errorf("Commit = %v, want %v", err, lost)
		}
		noError(t, set.Sweep(t.Context(), s, nil))
	}
}

// If Publish fails, the lease stays: the tables are needed when it is called again.
func TestPublishThatFailsKeepsItsLease(t *testing.T) {
	t.Parallel()
	s, o := newMemoryStore(), &set.BuilderOptions{Part: 1, Lease: set.NewLease()}
	b, err := set.NewBuilder(t.Context(), s, o)
	noError(t, err)
	noError(t, b.Append([]byte("a"), nil))
	l := commit(t, b)
	o.Check = func(*set.Manifest) error { return broken }
	checkError(t, "Publish", set.Publish(t.Context(), s, l, o), broken, "")
	checkError(t, "Sweep", set.Sweep(t.Context(), s, &set.SweepOptions{AnyAge: true}), set.ErrBuilding, o.Lease)
	o.Check = nil
	noError(t, set.Publish(t.Context(), s, l, o))
	checkSwept(t, s)
}
