//go:build unix

package setio_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// killingPolicy is a Bloom filter policy that kills the process at the start of a table, after another one was
// written. The environment has the number of tables that existed before.
type killingPolicy struct{ filter.Policy }

func (p killingPolicy) NewGenerator() filter.Generator {
	before, err := strconv.Atoi(os.Getenv("SETIO_TEST_KILL"))
	if tables := tablesIn(os.Getenv(childDir)); err == nil && tables > before {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return p.Policy.NewGenerator()
}

// tablesIn returns the number of tables in dir.
func tablesIn(dir string) int {
	tables, _ := filepath.Glob(filepath.Join(dir, "*.ldb")) // the pattern is valid
	return len(tables)
}

func init() {
	setio.RegisterWriter("killing", func() *table.WriterOptions {
		return &table.WriterOptions{FilterPolicy: killingPolicy{filter.NewBloom(10)}}
	})
}

// A build is killed after it has written at least one of ten tables. Then there is no manifest, or the one from the
// build before. The next build produces the same bytes as an undisturbed one, and Sweep leaves only files that a
// manifest lists.
func TestKilledBuildIsDoneAgain(t *testing.T) {
	keys := shuffledURLs(20_000)
	earlier, now := writeFiles(t, 2, keys[:5000]), writeFiles(t, 4, keys)
	o := setio.Options{EntriesPerTable: 2000, Writer: "killing"}
	undisturbed := t.TempDir()
	noError(t, build(undisturbed, now, o))
	_, want := readSet(t, undisturbed)

	for name, before := range map[string][]string{"new directory": nil, "after another build": earlier} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var kept []string
			var replaced *set.Manifest
			if before != nil {
				noError(t, build(dir, before, o))
				replaced, _ = readSet(t, dir)
				kept = namesOf(replaced)
			}
			buildKilled(t, dir, now)
			checkKilled(t, dir, kept)
			noError(t, build(dir, now, o))
			m, file := readSet(t, dir)
			checkDiff(t, "the manifest after a kill", want, file)
			noError(t, setio.Sweep(t.Context(), dir, replaced))
			names := slices.Concat(namesOf(m), kept)
			slices.Sort(names)
			checkDiff(t, "files", slices.Compact(names), list(t, dir))
		})
	}
}

// buildKilled starts a process that builds a set and is killed.
func buildKilled(t *testing.T, dir string, files []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = childEnv(dir, files, 2000, fmt.Sprint("SETIO_TEST_KILL=", tablesIn(dir)))
	out, _ := cmd.CombinedOutput()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Fatalf("%v, want killed:\n%s", cmd.ProcessState, out)
	}
}

// checkKilled checks that a killed build has left tables, a temporary file, a lease, which it ends, and the files
// from before, whose manifest still has all its tables.
func checkKilled(t *testing.T, dir string, kept []string) {
	t.Helper()
	tables, temporary := 0, 0
	for _, name := range list(t, dir) {
		switch {
		case slices.Contains(kept, name):
		case strings.HasSuffix(name, ".ldb"):
			tables++
		case strings.HasSuffix(name, ".lease"):
			endLease(t, filepath.Join(dir, name))
		case strings.HasSuffix(name, ".tmp"):
			temporary++
		default:
			t.Errorf("there is %s, want no manifest before its tables", name)
		}
	}
	if tables == 0 || temporary == 0 {
		t.Errorf("the killed build has left %d tables and %d temporary files behind, want at least one", tables, temporary)
	}
	if kept != nil {
		scan(t, dir)
	} else if _, err := os.Stat(filepath.Join(dir, set.ManifestName)); err == nil {
		t.Error("there is a manifest")
	}
}
