package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
)

// Commands that replace one filter at the same time do not lose each other's exceptions and keys: the result is
// as if they had run one after the other.
func TestFiltersReplacedAtOnce(t *testing.T) {
	t.Parallel()
	const n = 6
	dir := t.TempDir()
	path := func(name string, i int) string { return filepath.Join(dir, fmt.Sprint(name, i)) }
	for i := range n {
		var lines []string
		for j := range 60 {
			lines = append(lines, fmt.Sprintf("key %d of %d\n", j, i))
		}
		writeInput(t, path("list", i), lines)
		mustSieve(t, "build", "--filter", "table-bloom:4", "--keys", "300", "-o", path("part", i), path("list", i))
	}
	for name, args := range map[string]func(i int, out string) []string{
		"except": func(i int, out string) []string { return []string{out, "--never", path("list", i), "--known-absent"} },
		"union":  func(i int, out string) []string { return []string{path("part", i), out, "-o", out} },
	} {
		inTurn, atOnce := path(name, 1), path(name, 2)
		for _, out := range []string{inTurn, atOnce} {
			mustSieve(t, "build", "--filter", "table-bloom:4", "--keys", "300", "-o", out, path("list", 0))
		}
		for i := 1; i < n; i++ {
			mustSieve(t, append([]string{name}, args(i, inTurn)...)...)
		}
		var running sync.WaitGroup
		for i := 1; i < n; i++ {
			running.Go(func() {
				if status, _, stderr := sieve(append([]string{name}, args(i, atOnce)...)...); status != 0 {
					t.Errorf("%s: status %d, %s", name, status, stderr)
				}
			})
		}
		running.Wait()
		want, err := os.ReadFile(inTurn)
		noError(t, err)
		if got, err := os.ReadFile(atOnce); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; in turn, it has %d", name, len(got), err, len(want))
		}
	}
	if locks, err := filepath.Glob(filepath.Join(dir, "*.lock")); runtime.GOOS != "windows" && locks != nil || err != nil { // it removes no open file
		t.Errorf("%q stay, %v", locks, err)
	}
}

// A command that has to wait says what it waits for.
func TestWaitForAFilterIsNoted(t *testing.T) {
	t.Parallel()
	f := filepath.Join(t.TempDir(), "f")
	mustSieve(t, "build", "--filter", "table-bloom:4", "--keys", "300", "-o", f, os.DevNull)
	l, err := filelock.Open(f + ".lock")
	noError(t, err)
	notes := &unlocking{unlock: l.Close}
	status := Run([]string{"union", f, "-o", f}, strings.NewReader(""), io.Discard, notes)
	if want := "note: waiting until another command unlocks " + format.ShellPath(f+".lock"); status != 0 || !strings.Contains(notes.String(), want) {
		t.Errorf("status %d, %s; want %q", status, notes, want)
	}
}

// unlocking is a standard error that ends a lock when it is written to.
type unlocking struct {
	strings.Builder
	unlock func() error
}

func (u *unlocking) Write(p []byte) (int, error) {
	n, _ := u.Builder.Write(p) // never fails
	return n, u.unlock()
}
