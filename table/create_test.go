package table_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// checkDir compares the sorted names in dir with want.
func checkDir(t *testing.T, dir string, want ...string) {
	t.Helper()
	checkDiff(t, "the directory has", want, names(t, dir))
}

// checkOld checks that the file is unchanged.
func checkOld(t *testing.T, name string) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || string(got) != "old" {
		t.Errorf("the file is %q, %v; want the old one", got, err)
	}
}

func create(t *testing.T, name string) *table.Writer {
	t.Helper()
	w, err := table.Create(name, nil)
	noError(t, err)
	return w
}

func TestCreatePublishesOnClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.ldb")
	w := create(t, name)
	noError(t, w.Append([]byte("k"), []byte("v")))
	if got := names(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], "sievetable-") || !strings.HasSuffix(got[0], ".tmp") {
		t.Errorf("before Close the directory has %v, want sievetable-….tmp", got)
	}
	noError(t, w.Close())
	checkDir(t, dir, "a.ldb")
	r, err := table.Open(name, nil)
	noError(t, err)
	defer r.Close()
	checkGet(t, r, []byte("k"), []byte("v"))
}

func TestCreateReplacesOnCloseOnly(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.ldb")
	noError(t, os.WriteFile(name, []byte("old"), 0o666))
	noError(t, create(t, name).Abort())
	checkOld(t, name)
	noError(t, errors.Join(create(t, name).Close(), verifyFile(name)))
}

func TestAbortAndErrorsLeaveNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 5 {
		w, err := table.Create(filepath.Join(dir, "aborted.ldb"), &table.WriterOptions{Concurrency: 1 + n})
		noError(t, errors.Join(err, appendAll(w, numbered(n*5000)), w.Abort()))
	}
	checkError(t, "in disorder", writeFile(filepath.Join(dir, "disorder.ldb"), pairsOf("b", "a")), table.ErrOrder, "")
	_, err := table.Create(filepath.Join(dir, "options.ldb"), &table.WriterOptions{BlockSize: -1})
	checkError(t, "impossible options", err, nil, "")
	// A directory gets the final name meanwhile. No file can replace it.
	w := create(t, filepath.Join(dir, "taken.ldb"))
	noError(t, os.MkdirAll(filepath.Join(dir, "taken.ldb", "full"), 0o777))
	checkError(t, "a directory in the way", w.Close(), nil, "")
	checkError(t, "a second Close", w.Close(), table.ErrClosed, "")
	for _, name := range []string{"", dir, filepath.Join(dir, "taken.ldb"), dir + "/taken.ldb/", filepath.Join(dir, strings.Repeat("n", 10_000))} {
		checkError(t, fmt.Sprintf("Create(%q)", name), errorOf(table.Create(name, nil)), nil, "")
	}
	checkError(t, "Create in a missing directory", errorOf(table.Create(filepath.Join(dir, "missing", "a.ldb"), nil)), fs.ErrNotExist, "")
	checkDir(t, dir, "taken.ldb")
}

// If the directory cannot be opened, and so not synced, Create fails, and an older file stays.
func TestCreateInADirectoryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() <= 0 { // the superuser, or on Windows
		t.Skip("any directory can be read")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "a.ldb")
	noError(t, os.WriteFile(name, []byte("old"), 0o666))
	noError(t, os.Chmod(dir, 0o300))
	_, err := table.Create(name, nil)
	noError(t, os.Chmod(dir, 0o700))
	checkError(t, "Create", err, fs.ErrPermission, "")
	checkDir(t, dir, "a.ldb")
	checkOld(t, name)
}

// The file stays in its directory, even if the working directory changes.
func TestCreateOfARelativeName(t *testing.T) {
	dir, name := t.TempDir(), strings.Repeat("n", 255) // as long as names can be
	t.Chdir(dir)
	w := create(t, name)
	t.Chdir(t.TempDir())
	noError(t, w.Close())
	checkDir(t, dir, name)
}

// The directory is resolved as by the system, through links and "..", and stays the same when it is moved.
func TestCreateFollowsTheDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	noError(t, os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o777))
	if err := os.Symlink(filepath.Join(dir, "real", "sub"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	w := create(t, dir+"/link/../a.ldb")
	noError(t, os.Rename(filepath.Join(dir, "real"), filepath.Join(dir, "moved")))
	noError(t, w.Close())
	checkDir(t, filepath.Join(dir, "moved"), "a.ldb", "sub")
}

// A namelessPolicy is one without a name.
type namelessPolicy struct{ filter.Policy }

func (namelessPolicy) Name() string { panic("Name") }

// openFiles counts the open files of a directory, on systems that list them. Other tests run at the same time, and
// open files of their own.
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

func TestFilesAreClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, short := filepath.Join(dir, "a.ldb"), filepath.Join(dir, "short.ldb")
	noError(t, os.WriteFile(short, []byte("short"), 0o666))
	filtered := filepath.Join(dir, "filtered.ldb")
	noError(t, writeFile(filtered, numbered(1)))
	for range 20 {
		noError(t, create(t, name).Close())
		noError(t, create(t, name).Abort())
		table.Create(name, &table.WriterOptions{BlockSize: -1})
		table.Open(short, nil)
		if panicOf(func() {
			table.Open(filtered, &table.ReaderOptions{FilterPolicies: []filter.Policy{namelessPolicy{}}})
		}) == nil {
			t.Error("a policy without a name: no panic")
		}
		noError(t, verifyFile(name))
	}
	if n := openFiles(t, dir); n != 0 {
		t.Errorf("%d open files, want 0", n)
	}
}

func TestOpenFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	checkError(t, "Open of no file", errorOf(table.Open(filepath.Join(dir, "missing.ldb"), nil)), fs.ErrNotExist, "")
	if r, err := table.Open(dir, nil); err == nil || r != nil || errors.Is(err, table.ErrCorrupt) {
		t.Errorf("Open of a directory = %v, %v; want an error that is no ErrCorrupt", r, err)
	}
	if r, err := table.Open(writeTable(t, []byte("short")), nil); !errors.Is(err, table.ErrCorrupt) || r != nil {
		t.Errorf("Open of 5 bytes = %v, %v; want nil and ErrCorrupt", r, err)
	}
}

// childEnv makes the test binary run a child instead of tests. Its value is the child's name, a colon and the
// child's argument.
const childEnv = "SIEVETABLE_TEST_CHILD"

// children print their results, and return why they ended.
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

// writeForEver writes tables of many sizes under one name, forever.
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
	return errors.Join(writeFile(name, numbered(1000)), writeForEver(name))
}

// writeHalf gets ready in the middle of a table, and stays there.
func writeHalf(name string) error {
	w, err := table.Create(name, nil)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := appendAll(w, numbered(1000)); err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}

func writeFile(name string, pairs []workload.Pair) error {
	w, err := table.Create(name, withBloom)
	if err != nil {
		return err
	}
	defer w.Abort()
	return errors.Join(appendAll(w, pairs), w.Close())
}

// A process that is killed at any point between Create and Close leaves no file under the final name, or a complete
// one.
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
		if run < 2 { // on a slow machine, perhaps only these runs do it
			child = []string{"writer of a whole file", "writer of half a file"}[run]
		}
		tabletest.Kill(t, tabletest.Self(t, childEnv+"="+child+":"+name), time.Duration(rng.IntN(5000))*time.Microsecond)
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
			noError(t, os.Remove(filepath.Join(dir, n)))
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
