package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// Aliases are in no list of commands, and have the help of their commands.
func TestAliasesAreInNoList(t *testing.T) {
	_, list, _ := sst("help")
	for name, command := range program.Aliases {
		if strings.Contains(list, "\n  "+name+" ") {
			t.Errorf("sst help lists %s", name)
		}
		checkPrints(t, mustSST(t, command[0], "--help"), append(strings.Fields(name), "--help")...)
	}
}

// sst compact writes the same database as sst merge --database, byte for byte.
func TestCompactIsMerge(t *testing.T) {
	dir := t.TempDir()
	db, lines := filepath.Join(dir, "db"), tempFile(t, "lines", "b\t7\tset\t2\nb\t5\tset\t1\nc\t6\tdelete\t\na\t1\tset\t0\n")
	mustSST(t, "build", "--database", "--internal-keys=yes", lines, "-o", db)
	compacted, merged := filepath.Join(dir, "compacted"), filepath.Join(dir, "merged")
	mustSST(t, "compact", db, "-o", compacted)
	mustSST(t, "merge", "--database", db, "-o", merged)
	if diff := cmp.Diff(filesOf(t, merged), filesOf(t, compacted)); diff != "" {
		t.Errorf("-merged +compacted:\n%s", diff)
	}
}

// filesOf returns the contents of the files of a directory.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		files[e.Name()] = string(readFile(t, filepath.Join(dir, e.Name())))
	}
	return files
}

// For a command that has moved to sieve, the message names the new one.
func TestMoved(t *testing.T) {
	for name, to := range program.Moved {
		if status, _, stderr := sst(name, "-n", "10"); status != cli.ExitUsage || stderr != "sst: "+name+" has moved: run "+to+"\n" {
			t.Errorf("sst %s: status %d, %s", name, status, stderr)
		}
	}
}
