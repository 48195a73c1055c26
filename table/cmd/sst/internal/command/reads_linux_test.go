package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// readsFile is the environment variable with the path that counted writes to.
const readsFile = "SST_TEST_READS"

func init() { programs["sst-counted"] = counted }

// counted is like runSST, but also writes how many bytes the process has read, and in how many calls.
func counted() {
	before, err := os.ReadFile("/proc/self/io") // the runtime has read files too
	status := Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err == nil {
		var after []byte
		after, err = os.ReadFile("/proc/self/io")
		if err == nil {
			err = os.WriteFile(os.Getenv(readsFile), append(before, after...), 0o666)
		}
	}
	if err != nil {
		panic(err)
	}
	os.Exit(status)
}

// readsOf runs the command, and returns how many bytes it has read, and in how many calls.
func readsOf(t *testing.T, args ...string) (bytes, calls int64) {
	t.Helper()
	cmd, report := exec.Command(scripttest.Link(t, "sst-counted"), args...), filepath.Join(t.TempDir(), "reads")
	cmd.Env = append(os.Environ(), readsFile+"="+report)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("sst %v: %v\n%s", args, err, out)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Skip(err) // the kernel counts nothing
	}
	value := func(name string) (n int64) {
		parts := strings.Split(string(text), name+": ")
		if len(parts) != 3 {
			t.Fatalf("%s: %q", name, text)
		}
		var before, after int64
		_, errBefore := fmt.Sscan(parts[1], &before)
		_, errAfter := fmt.Sscan(parts[2], &after)
		noError(t, errors.Join(errBefore, errAfter))
		return after - before
	}
	return value("rchar"), value("syscr")
}

// verify reads each byte about once, in large reads. A lookup reads little besides filters, index and its blocks.
func TestReads(t *testing.T) {
	long.NoRace(t)
	const pairs = 300_000
	in, dir := manyPairs(t, pairs), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"-o", path("t.ldb")},
		{"-o", path("bytable.ldb"), "--bits", "none", "--table-filter", "table-bloom"},
		{"-o", path("bare.ldb"), "--bits", "none"},
		{"-o", path("large.ldb"), "--bits", "none", "--block-size", "200KiB"},
		{"--entries-per-table", "200000", "-o", path("set")},
		{"--filter-only", "--entries-per-table", "200000", "--table-filter", "table-bloom:300", "-o", path("filters")},
		{"--database", "-o", path("db")},
	} {
		mustSST(t, append(append([]string{"build", "--sorted"}, args...), in)...)
	}
	key := fmt.Sprintf("key%08d", pairs/3)
	for _, tt := range []struct {
		args  []string
		files string // files that are read
		most  func(size int64) (bytes, calls int64)
	}{
		{[]string{"verify", path("t.ldb")}, "t.ldb", once},
		{[]string{"verify", path("bytable.ldb")}, "bytable.ldb", once},
		{[]string{"verify", path("set")}, "set/*", once},
		{[]string{"verify", path("filters")}, "filters/*", once},
		{[]string{"verify", path("db")}, "db/*", once},
		{[]string{"verify", path("large.ldb")}, "large.ldb", once},
		{[]string{"get", path("t.ldb"), key}, "t.ldb", lookup(4 << 10)},
		{[]string{"get", path("bytable.ldb"), key}, "bytable.ldb", lookup(4 << 10)},
		{[]string{"get", path("bare.ldb"), key}, "bare.ldb", lookup(4 << 10)},
		{[]string{"get", path("large.ldb"), key}, "large.ldb", lookup(200 << 10)},
	} {
		files, err := filepath.Glob(path(tt.files))
		noError(t, err)
		size := input.TotalSize(files)
		bytes, calls := readsOf(t, tt.args...)
		mostBytes, mostCalls := tt.most(size)
		if size < 4<<20 || bytes > mostBytes || calls > mostCalls {
			t.Errorf("sst %v: %d bytes by %d calls of %d in %d files, want at most %d by %d", tt.args, bytes, calls, size, len(files), mostBytes, mostCalls)
		}
		t.Logf("sst %v: %.3f times the %d bytes of %d files, by %d calls", tt.args, float64(bytes)/float64(size), size, len(files), calls)
	}
}

// once returns the limits for a check of files of that size, including what the process itself reads.
func once(size int64) (bytes, calls int64) { return size + size/20 + 16<<10, 80 + size/(100<<10) }

// lookup returns the limits for a lookup in a table with blocks of that size: filters and index, at most 1 MiB to
// detect the order, and 3 blocks to detect the form of keys.
func lookup(block int64) func(size int64) (bytes, calls int64) {
	return func(size int64) (bytes, calls int64) { return size/20 + 1<<20 + 4*block, 100 }
}
