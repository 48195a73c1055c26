package set_test

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
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// locks has a channel for each path that is full while the path is locked.
var locks sync.Map

// lockFile locks a path against other goroutines of the test.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	lock, _ := locks.LoadOrStore(path, make(chan struct{}, 1))
	select {
	case lock.(chan struct{}) <- struct{}{}:
		return func() { <-lock.(chan struct{}) }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// dirStore returns the directory, with a lock.
func dirStore(dir string) *set.DirStore { return &set.DirStore{Dir: dir, LockFile: lockFile} }

// newBuilder returns a Builder of tables of at most 10 entries in dir.
func newBuilder(t *testing.T, dir string) *set.Builder {
	t.Helper()
	b, err := set.NewBuilder(t.Context(), dirStore(dir), &set.BuilderOptions{EntriesPerTable: 10})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// buildSet writes a set of n keys with that value, and returns its tables.
func buildSet(t *testing.T, dir string, n int, value string) []set.Table {
	t.Helper()
	b := newBuilder(t, dir)
	defer b.Abort()
	appendKeys(t, b, n, value)
	l, err := b.Commit()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Abort(); err != nil {
		t.Errorf("Abort after Commit = %v", err)
	}
	return l.Tables
}

func appendKeys(t *testing.T, b *set.Builder, n int, value string) {
	t.Helper()
	for i := range n {
		if err := b.Append(fmt.Appendf(nil, "%06d", i), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
}

// listing returns the names in dir, and checks that each table is as its manifest says.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	for want := range readManifest(t, dir).All() {
		f, err := os.ReadFile(filepath.Join(dir, want.Name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := set.Describe(bytes.NewReader(f), int64(len(f)), nil)
		got.Name = want.Name
		if diff := cmp.Diff(*want, got); err != nil || diff != "" {
			t.Errorf("error %v (-manifest +table):\n%s", err, diff)
		}
		digits, _, _ := strings.Cut(strings.Split(want.Name, "-")[1], ".")
		if digits != want.SHA256[:16] && digits != want.SHA256 {
			t.Errorf("the table of SHA-256 %s has the name %s", want.SHA256, want.Name)
		}
	}
	return names(t, dir)
}

func readManifest(t *testing.T, dir string) *set.Manifest {
	t.Helper()
	d := set.NewDir(dir)
	defer d.Close()
	m, err := d.ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The same pairs make the same files. Others replace the manifest, and the old tables stay.
func TestBuildSet(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "set")
	tables := buildSet(t, dir, 55, "v")
	first := listing(t, dir)
	if len(first) != 7 {
		t.Errorf("%q, want 6 tables and the manifest", first)
	}
	if diff := cmp.Diff(readManifest(t, dir).Tables, tables); diff != "" {
		t.Errorf("tables (-manifest +Commit):\n%s", diff)
	}
	if diff := cmp.Diff(tables, buildSet(t, dir, 55, "v")); diff != "" {
		t.Errorf("tables of the same pairs again (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(first, listing(t, dir)); diff != "" {
		t.Errorf("the same pairs again (-first +second):\n%s", diff)
	}
	fewer := buildSet(t, dir, 52, "v") // the last table has fewer entries
	if diff := cmp.Diff(tables[:5], fewer[:5]); diff != "" || len(listing(t, dir)) != 8 {
		t.Errorf("the first 5 tables (-before +after):\n%s", diff)
	}
	buildSet(t, dir, 52, "w")
	if third := listing(t, dir); len(third) != 1+6+1+6 {
		t.Errorf("%q, want a manifest, and the tables of three sets", third)
	}
}

// A process that was killed leaves its temporary directory, and no table under its name. The same
// pairs make the same files beside it.
func TestBuildAfterKill(t *testing.T) {
	t.Parallel()
	dir, want := t.TempDir(), t.TempDir()
	killed := newBuilder(t, dir)
	defer killed.Abort()
	appendKeys(t, killed, 99, "v")
	left := names(t, dir)
	if n := len(names(t, filepath.Join(dir, left[0]))); len(left) != 1 || n < 9 {
		t.Fatalf("%q with %d files, want some tables before the end", left, n)
	}
	buildSet(t, dir, 120, "v")
	buildSet(t, want, 120, "v")
	if diff := cmp.Diff(append(listing(t, want), left...), listing(t, dir)); diff != "" {
		t.Errorf("(-undisturbed +after a kill):\n%s", diff)
	}
	if err := set.Sweep(t.Context(), dirStore(dir), nil); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(append(listing(t, want), left...), listing(t, dir)); diff != "" {
		t.Errorf("(-undisturbed +swept on the same day):\n%s", diff)
	}
	if err := set.Sweep(t.Context(), dirStore(dir), &set.SweepOptions{}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(listing(t, want), listing(t, dir)); diff != "" {
		t.Errorf("(-undisturbed +swept):\n%s", diff)
	}
}

func TestBuildEmptySet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	buildSet(t, dir, 0, "")
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
		abort(t, dir, n, "v")
		if got := names(t, parent); len(got) != 0 {
			t.Errorf("%d keys leave %q", n, got)
		}
	}
	buildSet(t, dir, 100, "v")
	want := listing(t, dir)
	for _, value := range []string{"v", "w"} { // tables that are there, and others
		abort(t, dir, 100, value)
		if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
			t.Errorf("after keys of value %s (-want +got):\n%s", value, diff)
		}
	}
}

func abort(t *testing.T, dir string, n int, value string) {
	t.Helper()
	b := newBuilder(t, dir)
	appendKeys(t, b, n, value)
	for range 2 {
		if err := b.Abort(); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.Commit(); !errors.Is(err, table.ErrClosed) {
		t.Errorf("Commit after Abort: %v, want ErrClosed", err)
	}
	if err := b.Append([]byte("z"), nil); !errors.Is(err, table.ErrClosed) {
		t.Errorf("Append after Abort: %v, want ErrClosed", err)
	}
}

// A Builder that ends early takes nothing from another one that writes the same tables, whichever
// of them writes a table first.
func TestAbortBesideAnotherBuilder(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the one that is aborted", "the one that is committed"} {
		dir := t.TempDir()
		var aborted, committed *set.Builder
		builders := []**set.Builder{&aborted, &committed}
		if first == "the one that is committed" {
			slices.Reverse(builders)
		}
		for _, b := range builders {
			*b = newBuilder(t, dir)
			appendKeys(t, *b, 100, "v")
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

// An error of a table, or the end of the context, is the error of Append or Commit.
func TestBuildFails(t *testing.T) {
	t.Parallel()
	cause := errors.New("no more memory")
	tables := 0
	o := set.BuilderOptions{EntriesPerTable: 10, NewTable: func(w io.Writer, _ bool) (set.TableAppender, error) {
		if tables++; tables == 3 {
			return nil, cause
		}
		return set.NewTableWriter(w, &table.WriterOptions{BlockSize: 100})
	}}
	checkBuildFails(t, t.Context(), o, cause)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checkBuildFails(t, ctx, set.BuilderOptions{EntriesPerTable: 10}, context.Canceled)
}

func checkBuildFails(t *testing.T, ctx context.Context, o set.BuilderOptions, want error) {
	t.Helper()
	dir := t.TempDir()
	b, err := set.NewBuilder(ctx, dirStore(dir), &o)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 60 && err == nil; i++ {
		err = b.Append([]byte{byte(i)}, nil)
	}
	if err == nil {
		_, err = b.Commit()
	}
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
	if err := b.Abort(); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("%q are left", got)
	}
}

// A directory of something else is left alone.
func TestNewBuilderRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, contents, want string }{
		{"CURRENT", "MANIFEST-000001\n", "is a database directory, with CURRENT"},
		{set.ManifestName, "a\tb\n", "set.jsonl: set: line 1 of the manifest: "},
		{set.ManifestName, "a\tb\n", "remove it, or write to another directory"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.contents), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := set.NewBuilder(t.Context(), dirStore(dir), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.file, err, tt.want)
		}
		if diff := cmp.Diff([]string{tt.file}, names(t, dir)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "set"), filepath.Join(t.TempDir(), "missing", "set")} {
		if _, err := set.NewBuilder(t.Context(), dirStore(dir), nil); err == nil {
			t.Errorf("NewBuilder of %s: no error", dir)
		}
	}
	for _, o := range []set.BuilderOptions{{EntriesPerTable: -1}, {Part: -1}} {
		if _, err := set.NewBuilder(t.Context(), dirStore(t.TempDir()), &o); err == nil {
			t.Errorf("NewBuilder with %+v: no error", o)
		}
	}
	b := newBuilder(t, t.TempDir())
	defer b.Abort()
	if err := b.Remove([]byte("a")); err == nil {
		t.Error("Remove without Layer: no error")
	}
}
