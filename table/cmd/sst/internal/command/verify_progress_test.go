package command

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// The progress of verify reaches the size of all files with its last step, and not before, whatever the files.
func TestProgressOfVerify(t *testing.T) {
	long.NoRace(t)
	in, dir := manyPairs(t, 150_000), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"-o", path("t.ldb")},
		{"--entries-per-table", "1000000", "-o", path("set")},
		{"--database", "-o", path("db")},
	} {
		mustSST(t, append(append([]string{"build", "--sorted"}, args...), in)...)
	}
	contents := readFile(t, path("t.ldb"))
	writeFile(t, path("damaged.ldb"), contents)
	flipAt(t, path("damaged.ldb"), int64(len(contents)/2))
	writeFile(t, path("cut.ldb"), contents[:5<<20])
	writeFile(t, path("text.ldb"), "no table")
	descending, value := func(i int) string { return fmt.Sprint(5000 - i) }, func(int) string { return strings.Repeat("v", 3000) }
	o := table.WriterOptions{Comparer: table.AnyOrder, Compression: table.NoCompression}
	writeEntries(t, path("reversed.ldb"), o, 2000, descending, value)
	for args, least := range map[string]int{
		"t.ldb": 10, "set": 5, "db": 3, "damaged.ldb": 10, "cut.ldb": 1, "text.ldb": 1, "reversed.ldb": 10,
		"t.ldb missing.ldb damaged.ldb set": 25,
	} {
		var paths []string
		for _, arg := range strings.Fields(args) {
			paths = append(paths, path(arg))
		}
		p := &pass{out: io.Discard, stderr: io.Discard}
		tables := p.targets(paths, true)
		noError(t, errors.Join(p.failed...))
		total, done, steps, last := sizeOf(tables...), int64(0), 0, int64(0)
		v := verifier{pass: p, add: func(n int64) {
			if n < 0 || n > 0 && done == total {
				t.Errorf("%s: a step of %d bytes after %d of %d", args, n, done, total)
			}
			if n > 0 {
				done, steps, last = done+n, steps+1, n
			}
		}}
		_ = v.verify(tables) // some files are damaged
		if done != total || steps < least || least > 1 && last > total/2 {
			t.Errorf("%s: %d bytes by %d steps, the last one of %d; want %d bytes by %d steps or more", args, done, steps, last, total, least)
		}
	}
}

// The progress of stats has a total for files beside directories, of which no table is read.
func TestProgressOfStats(t *testing.T) {
	path := tempFile(t, "t.ldb", "12345")
	p := &pass{out: io.Discard, stderr: io.Discard}
	if got := sizeOf(p.summarized([]string{path, filepath.Dir(path)})...); got != 5 {
		t.Errorf("total of a file of 5 bytes and a directory: %d", got)
	}
}

// manyPairs writes lines of about 45 bytes, in the order of their keys.
func manyPairs(t *testing.T, n int) (path string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "key%08d\t%016x%016x\n", i, rng.Uint64(), rng.Uint64())
	}
	return tempFile(t, "pairs", lines.String())
}
