package table_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// names lists dir.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return s
}

func create(t *testing.T, name string) *table.Writer {
	t.Helper()
	w, err := table.Create(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestCreatePublishesOnClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.ldb")
	w := create(t, name)
	if err := w.Append([]byte("k"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], "sievetable-") || !strings.HasSuffix(got[0], ".tmp") {
		t.Errorf("before Close the directory has %v, want sievetable-….tmp", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.ldb"}, names(t, dir)); diff != "" {
		t.Errorf("after Close (-want +got):\n%s", diff)
	}
	r, err := table.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if v, err := r.Get([]byte("k")); err != nil || string(v) != "v" {
		t.Errorf("Get = %q, %v", v, err)
	}
}

func TestCreateReplacesOnCloseOnly(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.ldb")
	if err := os.WriteFile(name, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	aborted := create(t, name)
	if err := aborted.Abort(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "old" {
		t.Errorf("after Abort the file is %q, %v; want the old one", got, err)
	}
	if err := errors.Join(create(t, name).Close(), verifyFile(name)); err != nil {
		t.Error(err)
	}
}

func TestAbortAndErrorsLeaveNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := create(t, filepath.Join(dir, "aborted.ldb"))
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	w = create(t, filepath.Join(dir, "disorder.ldb"))
	for _, k := range []string{"b", "a"} {
		w.Append([]byte(k), nil)
	}
	if err := w.Close(); !errors.Is(err, table.ErrOrder) {
		t.Errorf("Close = %v, want ErrOrder", err)
	}
	if _, err := table.Create(filepath.Join(dir, "options.ldb"), &table.WriterOptions{BlockSize: -1}); err == nil {
		t.Error("impossible options: no error")
	}
	// A directory that gets the final name meanwhile, which no file can replace.
	w = create(t, filepath.Join(dir, "taken.ldb"))
	if err := os.MkdirAll(filepath.Join(dir, "taken.ldb", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil {
		t.Error("a directory in the way: no error")
	}
	if err := w.Close(); !errors.Is(err, table.ErrClosed) {
		t.Errorf("a second Close = %v, want ErrClosed", err)
	}
	for _, name := range []string{"", dir, filepath.Join(dir, "taken.ldb"), dir + "/taken.ldb/", filepath.Join(dir, strings.Repeat("n", 10_000))} {
		if _, err := table.Create(name, nil); err == nil {
			t.Errorf("Create(%q): no error", name)
		}
	}
	if diff := cmp.Diff([]string{"taken.ldb"}, names(t, dir)); diff != "" {
		t.Errorf("the directory has (-want +got):\n%s", diff)
	}
}

// A policy that panics when it is first used leaves no temporary file.
func TestCreateAfterAPanic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		table.Create(filepath.Join(dir, "a.ldb"), &table.WriterOptions{FilterPolicy: (*filter.Bloom)(nil)})
	}()
	if diff := cmp.Diff([]string(nil), names(t, dir)); diff != "" {
		t.Errorf("the directory has (-want +got):\n%s", diff)
	}
}

// A directory that cannot be opened, and so not synced, fails Close before an
// older file is replaced.
func TestCreateInADirectoryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("the superuser can read any directory")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "a.ldb")
	if err := os.WriteFile(name, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	err := create(t, name).Close()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Close = %v, want fs.ErrPermission", err)
	}
	if diff := cmp.Diff([]string{"a.ldb"}, names(t, dir)); diff != "" {
		t.Errorf("the directory has (-want +got):\n%s", diff)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "old" {
		t.Errorf("the file is %q, %v; want the old one", got, err)
	}
}

// The file goes where it was created, wherever the process moves.
func TestCreateOfARelativeName(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	w := create(t, strings.Repeat("n", 255)) // as long as names can be
	t.Chdir(t.TempDir())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{strings.Repeat("n", 255)}, names(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The directory is the one that the system finds, through links and .., and
// stays the same when it is moved.
func TestCreateFollowsTheDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "real", "sub"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	w := create(t, dir+"/link/../a.ldb")
	if err := os.Rename(filepath.Join(dir, "real"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.ldb", "sub"}, names(t, filepath.Join(dir, "moved"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCreateInAMissingDirectory(t *testing.T) {
	t.Parallel()
	_, err := table.Create(filepath.Join(t.TempDir(), "missing", "a.ldb"), nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Create = %v, want fs.ErrNotExist", err)
	}
}

// A namelessPolicy is one without a name.
type namelessPolicy struct{ filter.Policy }

func (namelessPolicy) Name() string { panic("Name") }

// openFiles counts the open files of a directory, where the system tells. Other tests run at
// the same time, and open files of their own.
func openFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, fd := range fds {
		name, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err == nil && strings.HasPrefix(name, dir+"/") {
			n++
		}
	}
	return n
}

// openPanicking opens a table with a policy that panics.
func openPanicking(t *testing.T, name string) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	table.Open(name, &table.ReaderOptions{FilterPolicies: []filter.Policy{namelessPolicy{}}})
}

func TestFilesAreClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, short := filepath.Join(dir, "a.ldb"), filepath.Join(dir, "short.ldb")
	if err := os.WriteFile(short, []byte("short"), 0o666); err != nil {
		t.Fatal(err)
	}
	filtered := filepath.Join(dir, "filtered.ldb")
	if err := os.WriteFile(filtered, build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, numbered(1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := create(t, name).Close(); err != nil {
			t.Fatal(err)
		}
		if err := create(t, name).Abort(); err != nil {
			t.Fatal(err)
		}
		table.Create(name, &table.WriterOptions{BlockSize: -1})
		table.Open(short, nil)
		openPanicking(t, filtered)
		r, err := table.Open(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := openFiles(t, dir); n != 0 {
		t.Errorf("%d open files, want 0", n)
	}
}

func TestOpenFiles(t *testing.T) {
	t.Parallel()
	if _, err := table.Open(filepath.Join(t.TempDir(), "missing.ldb"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of no file = %v, want fs.ErrNotExist", err)
	}
	if r, err := table.Open(t.TempDir(), nil); err == nil || r != nil || errors.Is(err, table.ErrCorrupt) {
		t.Errorf("Open of a directory = %v, %v; want an error that is no ErrCorrupt", r, err)
	}
	short := filepath.Join(t.TempDir(), "short.ldb")
	if err := os.WriteFile(short, []byte("short"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r, err := table.Open(short, nil); !errors.Is(err, table.ErrCorrupt) || r != nil {
		t.Errorf("Open of 5 bytes = %v, %v; want nil and ErrCorrupt", r, err)
	}
}
