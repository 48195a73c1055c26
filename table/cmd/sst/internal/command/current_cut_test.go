package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// A CURRENT that is cut within the name of the MANIFEST is at fault itself, and not the MANIFEST of the shorter name,
// which never was. It is said once.
func TestCutCurrent(t *testing.T) {
	t.Parallel()
	sound := writeSmall(t)
	current := readFile(t, filepath.Join(sound, "CURRENT"))
	for n := len("MANIFEST-0"); n < len(strings.TrimSpace(string(current))); n++ {
		dir := filepath.Join(t.TempDir(), "db")
		if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, "CURRENT"), int64(n)); err != nil {
			t.Fatal(err)
		}
		for _, command := range databaseCommands {
			checkMessages(t, sound, dir, "CURRENT", "truncated", command)
		}
	}
}

// With --strict, damage of the state of a database ends a command before it prints anything.
func TestStrictStates(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"CURRENT", "MANIFEST-*"} {
		dir := filepath.Join(t.TempDir(), "db")
		if err := os.CopyFS(dir, os.DirFS(writeSmall(t))); err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(dir, file))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		if err := os.Remove(names[0]); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"get", "--strict", dir, "a0007"}, {"scan", "--strict", dir}, {"diff", "--strict", dir, dir}} {
			if status, stdout, stderr := sst(args...); status != cli.ExitDamaged || stdout != "" || !strings.Contains(stderr, filepath.Base(names[0])) {
				t.Errorf("without %s: %v: status %d, %q, %q", file, args, status, stdout, stderr)
			}
		}
	}
}

// A directory with the tables and logs of a database that has lost CURRENT and the MANIFEST is not sound, and every
// command that reads it says so: obsolete tables among them can bring deleted keys back.
func TestDatabaseWithoutState(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "db")
	if err := os.CopyFS(dir, os.DirFS(writeSmall(t))); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"CURRENT", "MANIFEST-*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		if err := os.Remove(names[0]); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{
		{"verify", "--quiet", dir}, {"scan", "--count", dir}, {"get", dir, "a0007"}, {"get", dir, "absent"}, {"diff", dir, dir}, {"stats", dir},
		{"merge", "--database", dir, "-o", out}, {"repair", dir, "-o", out + "2"}, {"report", dir, "-o", out + ".html"},
	} {
		status, stdout, stderr := sst(args...)
		if status != cli.ExitDamaged || !strings.Contains(stdout+stderr, "missing, and so is the MANIFEST: ") && !strings.Contains(stderr, "no MANIFEST: ") {
			t.Errorf("%v: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
}
