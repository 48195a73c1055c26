package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// No command replaces a file that a database or a set needs, whichever flag names it, and even through links. It
// leaves no other file either.
func TestOutputsThatOthersNeed(t *testing.T) {
	writeOwned(t)
	table, listed := onlyFile(t, "set/*.ldb"), onlyFile(t, "db/*.ldb")
	if err := os.Symlink(filepath.Join("db", "CURRENT"), "link"); err != nil {
		t.Skip(err) // Windows may forbid it
	}
	before := map[string]map[string]string{"db": filesOf(t, "db"), "set": filesOf(t, "set")}
	outputs := []string{"db/CURRENT", "./db/../db/CURRENT", "link", onlyFile(t, "db/MANIFEST-*"), "db/MANIFEST-000099", "db/LOCK", "db/LOG", "db/000099.log", "db/000099.dbtmp", listed, table, "set/set.jsonl", "set/set.jsonl.lock"}
	for _, out := range outputs {
		for _, line := range []string{
			"build -o OUT in.tsv", "build -o new.ldb --manifest-line OUT in.tsv", "merge t.ldb -o OUT", "merge t.filter -o OUT", "convert t.ldb -o OUT",
			"repair t.ldb -o OUT", "report t.ldb -o OUT", "manifest t.ldb -o OUT",
		} {
			checkSST(t, cli.ExitUsage, fmt.Sprintf(" is %s, ", out), strings.Fields(strings.ReplaceAll(line, "OUT", out))...)
		}
	}
	for dir, files := range before {
		if diff := cmp.Diff(files, filesOf(t, dir)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", dir, diff)
		}
	}
}

// The parent of a link is the parent of the directory that it leads to, as for the operating system.
func TestOutputsThroughLinks(t *testing.T) {
	dir := writeOwned(t)
	noError(t, errors.Join(os.MkdirAll("a/deep", 0o777), os.MkdirAll("far/db", 0o777), os.MkdirAll("far/x", 0o777)))
	if err := errors.Join(os.Symlink("a/deep", "work"), os.Symlink("far/x", "fx")); err != nil {
		t.Skip(err) // Windows may forbid it
	}
	before := filesOf(t, "db")
	checkSST(t, cli.ExitUsage, "", "build", "-o", "work/../../db/CURRENT", "in.tsv")
	mustSST(t, "build", "-o", "fx/../db/CURRENT", "in.tsv") // which is in far/db
	t.Chdir("work")
	t.Setenv("PWD", filepath.Join(dir, "work"))
	checkSST(t, cli.ExitUsage, "", "report", "../../t.ldb", "-o", "../../db/CURRENT")
	checkSST(t, cli.ExitUsage, "part of the INPUT", "merge", "../../db", "-o", "../../db/new.ldb")
	if diff := cmp.Diff(before, filesOf(t, filepath.Join(dir, "db"))); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

// A manifest that cannot be read completely may list any table in its directory. Manifests with other names list
// tables too.
func TestOutputsBesideDamagedManifests(t *testing.T) {
	for name, tt := range map[string]struct {
		out    string
		damage func(t *testing.T) error
	}{
		"a cut MANIFEST":        {"db/*.ldb", func(t *testing.T) error { return cutBy(onlyFile(t, "db/MANIFEST-*"), 1) }},
		"no MANIFEST":           {"db/*.ldb", func(t *testing.T) error { return os.Remove(onlyFile(t, "db/MANIFEST-*")) }},
		"a cut set.jsonl":       {"set/*.ldb", func(*testing.T) error { return cutBy("set/set.jsonl", 20) }},
		"an empty set.jsonl":    {"set/set.jsonl", func(*testing.T) error { return os.Truncate("set/set.jsonl", 0) }},
		"another name":          {"set/*.ldb", func(*testing.T) error { return os.Rename("set/set.jsonl", "set/other.jsonl") }},
		"a set beside CURRENT":  {"db/x.jsonl", func(*testing.T) error { return os.Rename("set/set.jsonl", "db/x.jsonl") }},
		"the file of that name": {"set/other.jsonl", func(*testing.T) error { return os.Rename("set/set.jsonl", "set/other.jsonl") }},
	} {
		t.Run(name, func(t *testing.T) {
			writeOwned(t)
			noError(t, tt.damage(t))
			checkSST(t, cli.ExitUsage, "", "convert", "t.ldb", "-o", onlyFile(t, tt.out))
			mustSST(t, "build", "-o", filepath.Join(filepath.Dir(tt.out), "000099.ldb"), "in.tsv") // which is new
		})
	}
}

// A manifest that cannot be read is named as the reason, and it lists no directory.
func TestOutputsBesideUnreadableManifest(t *testing.T) {
	writeOwned(t)
	noError(t, cutBy("set/set.jsonl", 20))
	checkSST(t, cli.ExitUsage, ", whose manifest set.jsonl cannot be read: to replace it, use --force", "convert", "t.ldb", "-o", onlyFile(t, "set/*.ldb"))
	noError(t, os.Mkdir("set/inner", 0o777))
	if status, _, stderr := sst("build", "--set", "--force", "-o", "set/inner", "in.tsv"); status != 0 || stderr != "" {
		t.Errorf("a directory is said to be a table: %s", stderr)
	}
}

// cutBy cuts bytes off the end of a file.
func cutBy(path string, n int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()-n)
}

// With --force, a listed table is converted in place, and a manifest is written again.
func TestForcedOutputs(t *testing.T) {
	writeOwned(t)
	table, listed := onlyFile(t, "set/*.ldb"), onlyFile(t, "db/*.ldb")
	for _, args := range [][]string{{"convert", "--force", listed, "-o", listed}, {"manifest", "--force", table, "-o", "set/set.jsonl"}, {"verify", "db", "set"}} {
		mustSST(t, args...)
	}
	for _, reserved := range []string{"db/CURRENT", "set/set.jsonl"} {
		checkSST(t, cli.ExitUsage, "name another file", "convert", "--force", "t.ldb", "-o", reserved)
	}
	for _, free := range []string{"db/table.ldb", "db/000099.ldb", "set/other.ldb", "db/notes.txt"} { // which nothing needs
		mustSST(t, "build", "-o", free, "in.tsv")
	}
}

// writeOwned is like writeUsable, and also writes a database and a set.
func writeOwned(t *testing.T) (dir string) {
	t.Helper()
	dir = writeUsable(t)
	mustSST(t, "build", "--database", "-o", "db", "in.tsv")
	mustSST(t, "build", "-o", "set/", "in.tsv")
	return dir
}

// The copy of a database gets its permissions, so private data stays private. The owner can always write to the copy,
// so an engine can open the copy of a read-only directory.
func TestCopiesKeepMode(t *testing.T) {
	scripttest.OnUnix(t)
	writeOwned(t)
	for _, mode := range []os.FileMode{0o700, 0o750, 0o777, 0o555} {
		noError(t, os.Chmod("db", mode))
		for i, args := range [][]string{{"merge", "--database", "db"}, {"repair", "db"}} {
			out := fmt.Sprintf("copy%d-%o", i, mode)
			mustSST(t, append(args, "-o", out)...)
			if info, err := os.Stat(out); err != nil || info.Mode().Perm() != mode|0o700 {
				t.Errorf("sst %v: %v, %v, want %v", args, info.Mode(), err, mode|0o700)
			}
		}
	}
	noError(t, os.Chmod("db", 0o700)) // so that it can be removed
}
