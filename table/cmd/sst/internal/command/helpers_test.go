package command

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

var (
	noError   = errtest.NoError
	entriesOf = filetest.EntriesOf
	flipAt    = filetest.Flip
	onlyFile  = filetest.OnlyFile
	rounds    = long.Rounds
	writeTo   = filetest.WriteDatabase
)

// seeds yields the numbers below n, each with its generator.
func seeds(n int, stream uint64) iter.Seq2[uint64, *rand.Rand] {
	return func(yield func(uint64, *rand.Rand) bool) {
		for seed := range uint64(n) {
			if !yield(seed, rand.New(rand.NewPCG(seed, stream))) {
				return
			}
		}
	}
}

// numberedLines returns n lines of that format, which takes the number of the line.
func numberedLines(n int, format string) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, format+"\n", i)
	}
	return lines.String()
}

// copyOf returns a copy of a directory.
func copyOf(t *testing.T, dir string) (copied string) {
	t.Helper()
	copied = filepath.Join(t.TempDir(), filepath.Base(dir))
	noError(t, os.CopyFS(copied, os.DirFS(dir)))
	return copied
}

// openSource opens a source, which the test closes.
func openSource(t *testing.T, path string, o source.Options) *source.Source {
	t.Helper()
	s, err := source.OpenSource(path, o)
	noError(t, err)
	return s
}

// checkSST checks the status of a command, and what it says on standard error.
func checkSST(t *testing.T, status int, said string, args ...string) {
	t.Helper()
	if got, out, stderr := sst(args...); got != status || !strings.Contains(stderr, said) {
		t.Errorf("sst %.200q: status %d, %s%s; want %d, and %q", args, got, out, stderr, status, said)
	}
}
