package partition

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// options are the options of a set of tables of at most 10 entries in dir.
func options(dir string) Options {
	return Options{Dir: dir, Entries: 10, Extension: ".ldb", NewTable: func(w io.Writer) (TableWriter, error) {
		return set.NewTableWriter(w, nil)
	}}
}

// write writes a set of n keys with that value. It returns how many tables are obsolete.
func write(t *testing.T, o Options, n int, value string) int {
	t.Helper()
	w, err := Create(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	appendKeys(t, w, n, value)
	obsolete, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return obsolete
}

func appendKeys(t *testing.T, w *Writer, n int, value string) {
	t.Helper()
	for i := range n {
		if err := w.Append(fmt.Appendf(nil, "%06d", i), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
}

// listing returns the names in dir, and checks that each table is as its manifest says.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	contents, err := os.ReadFile(filepath.Join(dir, set.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	m, err := set.ReadManifest(bytes.NewReader(contents))
	if err != nil {
		t.Fatal(err)
	}
	for want := range m.All() {
		f, err := os.ReadFile(filepath.Join(dir, want.Name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := set.Describe(bytes.NewReader(f), int64(len(f)), nil)
		got.Name = want.Name
		if diff := cmp.Diff(*want, got); err != nil || diff != "" {
			t.Errorf("error %v (-manifest +table):\n%s", err, diff)
		}
		if !strings.Contains(want.Name, "-"+want.SHA256[:16]+".") {
			t.Errorf("the table of SHA-256 %s has the name %s", want.SHA256, want.Name)
		}
	}
	return names(t, dir)
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// The same pairs make the same files. Others replace the manifest, and the old tables stay.
func TestWriteSet(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "set")
	if n := write(t, options(dir), 55, "v"); n != 0 {
		t.Errorf("%d tables of a new set are obsolete", n)
	}
	first := listing(t, dir)
	if len(first) != 7 {
		t.Errorf("%q, want 6 tables and the manifest", first)
	}
	if n := write(t, options(dir), 55, "v"); n != 0 {
		t.Errorf("%d tables of the same set are obsolete", n)
	}
	if diff := cmp.Diff(first, listing(t, dir)); diff != "" {
		t.Errorf("the same pairs again (-first +second):\n%s", diff)
	}
	if n := write(t, options(dir), 52, "v"); n != 1 { // the last table has fewer entries
		t.Errorf("%d tables are obsolete, want the last one", n)
	}
	if n := write(t, options(dir), 52, "w"); n != 6 {
		t.Errorf("%d tables are obsolete, want all 6", n)
	}
	if third := listing(t, dir); len(third) != 1+6+1+6 {
		t.Errorf("%q, want a manifest, and the tables of three sets", third)
	}
}

// A process that was killed leaves its temporary directory, and no table under its name. The same
// pairs make the same files beside it.
func TestWriteAfterKill(t *testing.T) {
	t.Parallel()
	dir, want := t.TempDir(), t.TempDir()
	w, err := Create(t.Context(), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	appendKeys(t, w, 99, "v")
	if n := len(names(t, w.pending.Path(""))); n < 9 {
		t.Fatalf("%d files, want some tables before the end", n)
	}
	if err := errors.Join(w.current.Abort(), w.cutter.close()); err != nil {
		t.Fatal(err)
	}
	write(t, options(dir), 120, "v")
	write(t, options(want), 120, "v")
	left := filepath.Base(w.pending.Path(""))
	if diff := cmp.Diff(append(listing(t, want), left), listing(t, dir)); diff != "" {
		t.Errorf("(-undisturbed +after a kill):\n%s", diff)
	}
}

func TestWriteEmptySet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, options(dir), 0, "")
	if diff := cmp.Diff([]string{set.ManifestName}, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What ends without Commit leaves nothing behind, and an older set as it was.
func TestAbort(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "set")
	for _, n := range []int{0, 5, 45, 100} {
		abort(t, options(dir), n, "v")
		if got := names(t, parent); len(got) != 0 {
			t.Errorf("%d keys leave %q", n, got)
		}
	}
	write(t, options(dir), 100, "v")
	want := listing(t, dir)
	for _, value := range []string{"v", "w"} { // tables that are there, and others
		abort(t, options(dir), 100, value)
		if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
			t.Errorf("after keys of value %s (-want +got):\n%s", value, diff)
		}
	}
}

// A Writer that ends early takes nothing from another one that writes the same tables, whichever
// of them writes a table first.
func TestAbortBesideAnotherWriter(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the one that is aborted", "the one that is committed"} {
		dir := t.TempDir()
		var aborted, committed *Writer
		writers := []**Writer{&aborted, &committed}
		if first == "the one that is committed" {
			slices.Reverse(writers)
		}
		for _, w := range writers {
			var err error
			if *w, err = Create(t.Context(), options(dir)); err != nil {
				t.Fatal(err)
			}
			appendKeys(t, *w, 100, "v")
		}
		if _, err := committed.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := aborted.Abort(); err != nil {
			t.Error(err)
		}
		if n := len(listing(t, dir)); n != 11 {
			t.Errorf("first writes %s: %d files, want 10 tables and the manifest", first, n)
		}
	}
}

func abort(t *testing.T, o Options, n int, value string) {
	t.Helper()
	w, err := Create(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	appendKeys(t, w, n, value)
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
}

// An error of a table, or the end of the context, is the error of Append or Commit.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	cause := errors.New("no more memory")
	o := options(t.TempDir())
	tables := 0
	o.NewTable = func(w io.Writer) (TableWriter, error) {
		if tables++; tables == 3 {
			return nil, cause
		}
		return set.NewTableWriter(w, &table.WriterOptions{BlockSize: 100})
	}
	checkFails(t, t.Context(), o, cause)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checkFails(t, ctx, options(t.TempDir()), context.Canceled)
}

func checkFails(t *testing.T, ctx context.Context, o Options, want error) {
	t.Helper()
	w, err := Create(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 60 && err == nil; i++ {
		err = w.Append([]byte{byte(i)}, nil)
	}
	if err == nil {
		_, err = w.Commit()
	}
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if got := names(t, o.Dir); len(got) != 0 {
		t.Errorf("%q are left", got)
	}
}

// A directory of something else is left alone.
func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, contents, want string }{
		{"CURRENT", "MANIFEST-000001\n", "the directory of a database, because it has CURRENT"},
		{set.ManifestName, "a\tb\n", "set.jsonl is there and would be replaced, but it is not a manifest"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.contents), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(t.Context(), options(dir)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.file, err, tt.want)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "set"), filepath.Join(t.TempDir(), "missing", "set")} {
		if _, err := Create(t.Context(), options(dir)); err == nil {
			t.Errorf("Create(%s): no error", dir)
		}
	}
}
