package set_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// If a table cannot get its name, the manifest stays as it was: it never lists a table that is not there.
func TestManifestComesLast(t *testing.T) {
	t.Parallel()
	same, dir := t.TempDir(), t.TempDir()
	buildSet(t, same, 25, "new")
	buildSet(t, dir, 25, "old")
	blocked := names(t, same)[1] // the name that a table will have
	if err := os.Mkdir(filepath.Join(dir, blocked), 0o777); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, set.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	b := newBuilder(t, dir)
	defer b.Abort()
	appendKeys(t, b, 25, "new")
	if _, err := b.Commit(); err == nil {
		t.Error("Commit: no error, though a table has no name")
	}
	after, err := os.ReadFile(filepath.Join(dir, set.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("the manifest (-before +after):\n%s", diff)
	}
}

// unfinished is a table whose Close fails.
type unfinished struct{ set.TableAppender }

var errUnfinished = errors.New("no space left")

func (unfinished) Close() (set.Table, error) { return set.Table{}, errUnfinished }

// An error of the last table is that of Commit, and there is no manifest.
func TestCommitOfAnUnfinishedTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := set.BuilderOptions{NewTable: func(w io.Writer, _ bool) (set.TableAppender, error) {
		to, err := set.NewTableWriter(w, nil)
		return unfinished{to}, err
	}}
	b, err := set.NewBuilder(t.Context(), dirStore(dir), &o)
	if err != nil {
		t.Fatal(err)
	}
	appendKeys(t, b, 5, "v")
	if _, err := b.Commit(); !errors.Is(err, errUnfinished) {
		t.Errorf("Commit: %v, want %v", err, errUnfinished)
	}
	if err := b.Abort(); err != nil {
		t.Error(err)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Whether a layer fits is checked again at its end, as the set can be another one by then.
func TestLayerIsCheckedAtItsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	buildSet(t, dir, 5, "v")
	before, misfit, checks := listing(t, dir), errors.New("does not fit any more"), 0
	o := set.BuilderOptions{Layer: true, Check: func(*set.Manifest) error {
		if checks++; checks > 1 {
			return misfit
		}
		return nil
	}}
	b, err := set.NewBuilder(t.Context(), dirStore(dir), &o)
	if err != nil {
		t.Fatal(err)
	}
	appendKeys(t, b, 5, "w")
	if _, err := b.Commit(); !errors.Is(err, misfit) {
		t.Errorf("Commit: %v, want %v", err, misfit)
	}
	if err := b.Abort(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// A set without tables does not replace one that has some, nor is a layer without tables added.
func TestCommitOfNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	buildSet(t, dir, 25, "v")
	before := listing(t, dir)
	for _, o := range []set.BuilderOptions{{}, {Layer: true}} {
		b, err := set.NewBuilder(t.Context(), dirStore(dir), &o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Commit(); !errors.Is(err, set.ErrEmpty) {
			t.Errorf("Commit: %v, want ErrEmpty", err)
		}
		if err := b.Abort(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Errorf("files (-before +after):\n%s", diff)
		}
	}
}

// What a Builder did not take is not left out without a word: the error stays, and nothing is committed.
func TestErrorsOfABuilderStay(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]func(b *set.Builder) error{
		"an entry out of order":  func(b *set.Builder) error { return b.Append([]byte("a"), nil) },
		"a removal out of order": func(b *set.Builder) error { return b.Remove([]byte("a")) },
	} {
		dir := t.TempDir()
		buildSet(t, dir, 1, "old")
		b, err := set.NewBuilder(t.Context(), dirStore(dir), &set.BuilderOptions{Layer: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Abort()
		if err := errors.Join(b.Append([]byte("b"), nil), b.Remove([]byte("c"))); err != nil {
			t.Fatal(err)
		}
		want := refused(b)
		_, err = b.Commit()
		if !errors.Is(want, table.ErrOrder) || b.Append([]byte("d"), nil) != want || b.Remove([]byte("e")) != want || err != want {
			t.Errorf("%s: error %v, then of Commit %v", name, want, err)
		}
		s, err := set.OpenDir(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if m := s.Manifest(); len(m.Layers) != 0 {
			t.Errorf("%s: %d layers, want none", name, len(m.Layers))
		}
	}
}
