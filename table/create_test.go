package table_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
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

// childEnv has the test binary be a child, instead of running tests: the one
// that is named, and behind a colon what it is to work on.
const childEnv = "SIEVETABLE_TEST_CHILD"

// children print what they have to say, and return why they ended.
var children = map[string]func(path string) error{"writer": writeForEver, "writer of a whole file": writeAnother, "writer of half a file": writeHalf}

func TestMain(m *testing.M) {
	if name, path, ok := strings.Cut(os.Getenv(childEnv), ":"); ok {
		if err := children[name](path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func childCommand(t *testing.T, name, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+name+":"+path)
	return cmd
}

// writeForEver writes tables of many sizes under one name.
func writeForEver(name string) error {
	fmt.Println("ready")
	for n := 1; ; n = n*3%1000 + 1 {
		if err := writeFile(name, numbered(n)); err != nil {
			return err
		}
	}
}

// writeAnother writes a table before it gets ready.
func writeAnother(name string) error {
	if err := writeFile(name, numbered(1000)); err != nil {
		return err
	}
	return writeForEver(name)
}

// writeHalf gets ready in the middle of a table, and stays there.
func writeHalf(name string) error {
	w, err := table.Create(name, nil)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, p := range numbered(1000) {
		if err := w.Append(p.Key, p.Value); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}

func writeFile(name string, pairs []workload.Pair) error {
	w, err := table.Create(name, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, p := range pairs {
		if err := w.Append(p.Key, p.Value); err != nil {
			return err
		}
	}
	return w.Close()
}

// A process that is killed at any point from Create to Close leaves no file
// under the final name, or a whole one.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	runs := 30
	if long.Enabled() && !testing.Short() {
		runs = 300
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "a.ldb")
	rng := rand.New(rand.NewPCG(1, 1))
	whole, none, left := 0, 0, 0
	for run := range runs {
		child := "writer"
		switch run { // what a slow machine may have no other run do
		case 0:
			child = "writer of a whole file"
		case 1:
			child = "writer of half a file"
		}
		tabletest.Kill(t, childCommand(t, child, name), time.Duration(rng.IntN(5000))*time.Microsecond)
		switch err := verifyFile(name); {
		case err == nil:
			whole++
		case errors.Is(err, fs.ErrNotExist):
			none++
		default:
			t.Fatalf("the file of a killed writer: %v", err)
		}
		for _, n := range names(t, dir) {
			if strings.HasSuffix(n, ".tmp") {
				left++
			}
			if err := os.Remove(filepath.Join(dir, n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d runs: %d whole files, %d none, %d temporary files left", runs, whole, none, left)
	if whole == 0 || left == 0 {
		t.Errorf("%d whole files and %d temporary ones: the writer was not killed at work", whole, left)
	}
}

func verifyFile(name string) error {
	r, err := table.Open(name, nil)
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(), r.Close())
}
