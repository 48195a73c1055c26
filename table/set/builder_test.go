package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// locks contains a channel for each path, which is full while the path is locked.
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

// newBuilder returns a Builder in dir, whose tables have at most 10 entries by default.
func newBuilder(t *testing.T, dir string, o set.BuilderOptions) *set.Builder {
	t.Helper()
	if o.EntriesPerTable == 0 && o.Part == 0 {
		o.EntriesPerTable = 10
	}
	b, err := set.NewBuilder(t.Context(), dirStore(dir), &o)
	noError(t, err)
	t.Cleanup(func() { b.Abort() }) // does nothing after Commit
	return b
}

// commit commits a Builder.
func commit(t *testing.T, b *set.Builder) set.Layer {
	t.Helper()
	l, err := b.Commit()
	noError(t, errors.Join(err, b.Abort())) // does nothing
	return l
}

// start begins a set or a layer that adds keys with that value and removes others.
func start(
	ctx context.Context, s set.Store, o set.BuilderOptions, added, removed int, value string,
) (*set.Builder, error) {
	b, err := set.NewBuilder(ctx, s, &o)
	if err != nil {
		return nil, err
	}
	for i := 0; i < max(added, removed) && err == nil; i++ { // their orders are independent
		if i < added {
			err = b.Append(fmt.Appendf(nil, "%06d", 10*i), []byte(value))
		}
		if i < removed {
			err = errors.Join(err, b.Remove(fmt.Appendf(nil, "%06d", 10*i+1)))
		}
	}
	if err != nil {
		return nil, errors.Join(err, b.Abort())
	}
	return b, nil
}

// buildIn builds a set or a layer in a Store, or finally aborts it.
func buildIn(
	ctx context.Context, s set.Store, o set.BuilderOptions, added, removed int, value string, commits bool,
) error {
	b, err := start(ctx, s, o, added, removed, value)
	if err != nil {
		return err
	}
	if commits {
		_, err = b.Commit()
	}
	return errors.Join(err, b.Abort())
}

// buildSet writes a set of n keys with that value, and returns its tables.
func buildSet(t *testing.T, dir string, n int, value string) []set.Table {
	t.Helper()
	b := newBuilder(t, dir, set.BuilderOptions{})
	appendKeys(t, b, n, value)
	return commit(t, b).Tables
}

func appendKeys(t *testing.T, b *set.Builder, n int, value string) {
	t.Helper()
	for i := range n {
		noError(t, b.Append(fmt.Appendf(nil, "%06d", i), []byte(value)))
	}
}

// listing returns the names in dir, and checks each table against the manifest.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	for want := range readManifest(t, dir).All() {
		f, err := os.ReadFile(filepath.Join(dir, want.Name))
		noError(t, err)
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
	noError(t, err)
	return m
}

// The same pairs produce the same files. Other pairs replace the manifest, and the old tables stay.
func TestBuildSet(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "set")
	buildSet(t, dir, 0, "")
	checkDiff(t, "files of a set without tables", []string{set.ManifestName}, listing(t, dir))
	tables := buildSet(t, dir, 55, "v")
	first := listing(t, dir)
	if len(first) != 7 {
		t.Errorf("%q, want 6 tables and the manifest", first)
	}
	checkDiff(t, "tables", readManifest(t, dir).Tables, tables)
	checkDiff(t, "tables of the same pairs again", tables, buildSet(t, dir, 55, "v"))
	checkDiff(t, "the same pairs again", first, listing(t, dir))
	fewer := buildSet(t, dir, 52, "v") // the last table has fewer entries
	checkDiff(t, "the first 5 tables", tables[:5], fewer[:5])
	buildSet(t, dir, 52, "w")
	if third := listing(t, dir); len(third) != 1+6+1+6 {
		t.Errorf("%q, want a manifest, and the tables of three sets", third)
	}
}

// A killed process leaves its temporary directory, and no table under its final name. The same pairs produce the
// same files beside it.
func TestBuildAfterKill(t *testing.T) {
	t.Parallel()
	dir, undisturbed := t.TempDir(), t.TempDir()
	killed := newBuilder(t, dir, set.BuilderOptions{})
	appendKeys(t, killed, 99, "v")
	left := names(t, dir)
	if n := len(names(t, filepath.Join(dir, left[0]))); len(left) != 1 || n < 9 {
		t.Fatalf("%q with %d files, want some tables before the end", left, n)
	}
	buildSet(t, dir, 120, "v")
	buildSet(t, undisturbed, 120, "v")
	want := listing(t, undisturbed)
	checkDiff(t, "files after a kill", append(want, left...), listing(t, dir))
	for _, o := range []*set.SweepOptions{nil, {}} {
		noError(t, set.Sweep(t.Context(), dirStore(dir), o))
		checkDiff(t, "files after a Sweep on the same day", append(want, left...), listing(t, dir))
	}
	noError(t, set.Sweep(t.Context(), dirStore(dir), &set.SweepOptions{AnyAge: true}))
	checkDiff(t, "files after a Sweep", want, listing(t, dir))
}

// A Builder without Commit leaves nothing behind, and an older set unchanged.
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
	for _, value := range []string{"v", "w"} { // existing tables, and others
		abort(t, dir, 100, value)
		checkDiff(t, fmt.Sprintf("after keys of value %s", value), want, listing(t, dir))
	}
}

func abort(t *testing.T, dir string, n int, value string) {
	t.Helper()
	b := newBuilder(t, dir, set.BuilderOptions{})
	appendKeys(t, b, n, value)
	noError(t, errors.Join(b.Abort(), b.Abort()))
	_, err := b.Commit()
	checkError(t, "Commit after Abort", err, table.ErrClosed, "")
	checkError(t, "Append after Abort", b.Append([]byte("z"), nil), table.ErrClosed, "")
}

// If a table fails or the context ends, Append or Commit returns the error, and nothing is left.
func TestBuildFails(t *testing.T) {
	t.Parallel()
	cause, tables := errors.New("no more memory"), 0
	for name, test := range map[string]struct {
		ctx  context.Context
		o    set.BuilderOptions
		want error
	}{
		"the third table": {t.Context(), set.BuilderOptions{
			EntriesPerTable: 10, NewTable: func(w io.Writer, _ bool) (set.TableAppender, error) {
				if tables++; tables == 3 {
					return nil, cause
				}
				return set.NewTableWriter(w, &table.WriterOptions{BlockSize: 100})
			}}, cause},
		"the end of the last table": {t.Context(), set.BuilderOptions{
			NewTable: func(w io.Writer, _ bool) (set.TableAppender, error) {
				to, err := set.NewTableWriter(w, nil)
				return unfinished{to}, err
			}}, errUnfinished},
		"a table without a line": {t.Context(), set.BuilderOptions{
			NewTable: func(w io.Writer, _ bool) (set.TableAppender, error) {
				to, err := set.NewTableWriter(w, nil)
				return withoutLine{to}, err
			}}, nil},
		"the context": {canceled(), set.BuilderOptions{EntriesPerTable: 10}, context.Canceled},
	} {
		dir := t.TempDir()
		b, err := set.NewBuilder(test.ctx, dirStore(dir), &test.o)
		noError(t, err)
		for i := 0; i < 60 && err == nil; i++ {
			err = b.Append([]byte{byte(i)}, nil)
		}
		if err == nil {
			_, err = b.Commit()
		}
		checkError(t, name, err, test.want, "")
		noError(t, b.Abort())
		checkDiff(t, name+": files", []string(nil), names(t, dir))
	}
}

// unfinished is a table whose Close fails.
type unfinished struct{ set.TableAppender }

var errUnfinished = errors.New("no space left")

func (unfinished) Close() (set.Table, error) { return set.Table{}, errUnfinished }

// withoutLine is a table whose Close returns no line.
type withoutLine struct{ set.TableAppender }

func (withoutLine) Close() (set.Table, error) { return set.Table{}, nil }

// A directory with other contents stays unchanged, and so does a set that a layer cannot be added to.
func TestNewBuilderRefuses(t *testing.T) {
	t.Parallel()
	refuse := func(dir string, o *set.BuilderOptions, want string) {
		t.Helper()
		_, err := set.NewBuilder(t.Context(), dirStore(dir), o)
		checkError(t, "NewBuilder", err, nil, want)
		// On Windows there also is no parent if it is a file.
		if errors.Is(err, fs.ErrNotExist) != strings.Contains(dir, "missing") && runtime.GOOS != "windows" {
			t.Errorf("%v, want fs.ErrNotExist only if there is no set or no parent", err)
		}
	}
	layer := &set.BuilderOptions{Layer: true, Check: func(*set.Manifest) error { return errors.New("does not fit") }}
	for _, tt := range []struct {
		file, contents string
		o              *set.BuilderOptions
		want           string
	}{
		{"CURRENT", "MANIFEST-000001\n", nil, "is a database directory, with CURRENT"},
		{set.ManifestName, "a\tb\n", nil, "set.jsonl: set: line 1 of the manifest: "},
		{set.ManifestName, "a\tb\n", nil, "remove it, or write to another directory"},
		{set.ManifestName, "{}", layer, "line 1 of the manifest"},
		{set.ManifestName, twoTablesFile, layer, "does not fit"},
	} {
		dir := t.TempDir()
		noError(t, os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.contents), 0o666))
		refuse(dir, tt.o, tt.want)
		checkDiff(t, "files", []string{tt.file}, names(t, dir))
	}
	missing := filepath.Join(t.TempDir(), "missing")
	noError(t, os.Mkdir(missing, 0o777))
	refuse(missing, layer, "no set to add a layer to")
	checkDiff(t, "files", []string(nil), names(t, missing))
	file := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(file, nil, 0o666))
	for _, dir := range []string{file, filepath.Join(file, "set"), filepath.Join(t.TempDir(), "missing", "set")} {
		refuse(dir, nil, dir)
	}
	refuse(t.TempDir(), &set.BuilderOptions{EntriesPerTable: -1}, "negative")
	refuse(t.TempDir(), &set.BuilderOptions{Part: -1}, "negative")
	refuse(t.TempDir(), &set.BuilderOptions{EntriesPerTable: 1, Part: 1}, "EntriesPerTable is set with Part")
	notALease := &set.BuilderOptions{Lease: set.ManifestName}
	refuse(t.TempDir(), notALease, "must be a result of NewLease")
	err := set.Publish(t.Context(), dirStore(t.TempDir()), set.Layer{}, notALease)
	checkError(t, "Publish", err, nil, "must be a result of NewLease")
	b := newBuilder(t, t.TempDir(), set.BuilderOptions{})
	checkError(t, "Remove", b.Remove([]byte("a")), nil, "Remove without Layer")
}
