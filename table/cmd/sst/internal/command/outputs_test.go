package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// No command replaces a file that a database or a set needs, whichever flag names it, through links too. Nothing is
// left beside it.
func TestOutputsThatOthersNeed(t *testing.T) {
	t.Chdir(t.TempDir())
	writeOwned(t)
	table, listed := onlyFile(t, "set/*.ldb"), onlyFile(t, "db/*.ldb")
	if err := os.Symlink(filepath.Join("db", "CURRENT"), "link"); err != nil {
		t.Skip(err) // Windows may forbid it
	}
	before := map[string]map[string]string{"db": filesOf(t, "db"), "set": filesOf(t, "set")}
	outputs := []string{"db/CURRENT", "./db/../db/CURRENT", "link", onlyFile(t, "db/MANIFEST-*"), "db/MANIFEST-000099", "db/LOCK", "db/LOG", "db/000099.log", "db/000099.dbtmp", listed, table, "set/set.jsonl", "set/set.jsonl.lock"}
	for _, out := range outputs {
		for _, line := range []string{
			"build -o OUT in.tsv", "build -o new.ldb --summary OUT in.tsv", "merge t.ldb -o OUT", "merge t.filter -o OUT", "convert t.ldb -o OUT",
			"repair t.ldb -o OUT", "report t.ldb -o OUT", "play -o OUT", "manifest t.ldb -o OUT", "seen --state OUT in.tsv",
		} {
			args := strings.Fields(strings.ReplaceAll(line, "OUT", out))
			status, _, stderr := sst(args...)
			if named := fmt.Sprintf(" is %s, ", out); status != exitUsage || !strings.Contains(stderr, named) {
				t.Errorf("%v: status %d, %q; want status %d and %q", args, status, stderr, exitUsage, named)
			}
		}
	}
	for dir, files := range before {
		if diff := cmp.Diff(files, filesOf(t, dir)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", dir, diff)
		}
	}
}

// With --force, a listed table is converted in place, and a manifest is written again.
func TestForcedOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	writeOwned(t)
	table, listed := onlyFile(t, "set/*.ldb"), onlyFile(t, "db/*.ldb")
	for _, args := range [][]string{{"convert", "--force", listed, "-o", listed}, {"manifest", "--force", table, "-o", "set/set.jsonl"}, {"verify", "db", "set"}} {
		mustSST(t, args...)
	}
	if status, _, stderr := sst("convert", "--force", "t.ldb", "-o", "db/CURRENT"); status != exitUsage || !strings.Contains(stderr, "name another file") {
		t.Errorf("status %d, %q", status, stderr)
	}
	for _, free := range []string{"db/table.ldb", "db/000099.ldb", "set/other.ldb", "db/notes.txt"} { // which nothing needs
		mustSST(t, "build", "-o", free, "in.tsv")
	}
}

// writeOwned writes a database, a set, a table and a filter to the current directory.
func writeOwned(t *testing.T) {
	t.Helper()
	writeInput(t, "in.tsv", []string{"a\t1\n"})
	for _, line := range []string{"build --database -o db in.tsv", "build -o set/ in.tsv", "build -o t.ldb in.tsv", "build --filter-only --table-filter table-bloom -o t.filter in.tsv"} {
		mustSST(t, strings.Fields(line)...)
	}
}

// onlyFile returns the file of that pattern.
func onlyFile(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %v, %v; want one file", pattern, files, err)
	}
	return filepath.ToSlash(files[0])
}
