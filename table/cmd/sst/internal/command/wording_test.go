package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
)

// wrongCounts matches counts with bad grammar: a plural of one, or a part of nothing.
var wrongCounts = regexp.MustCompile(`\b1 ((data|other|distinct|repeated|restart|table|user) )?(bit|block|byte|deletion|entrie|filter|key|line|loss|lookup|pair|pass|point|probe|record|separator|step|table|value|version|write)e?s\b` +
	`|\b1 (of [0-9]+ )?[a-z]+s are\b|\b1 are\b|\bof none\b|\bof 0\b|\b0 of 0\b|-0\b|−0\b|NaN|Inf\b`)

func TestWrongCounts(t *testing.T) {
	t.Parallel()
	for text, wrong := range map[string]bool{
		"1 blocks": true, "1 data blocks": true, "1 entries": true, "1 bits per key": true, "1 block of none": true, "0 of 0 keys": true, "-0.0 %": true,
		"1 of 3 keys are absent": true, "1 block": false, "21 blocks": false, "1.0 entries": false, "1 of 2 tables": false, "at 0, 1 byte": false,
	} {
		if got := wrongCounts.MatchString(text); got != wrong {
			t.Errorf("%q is wrong: %v, want %v", text, got, wrong)
		}
	}
}

// smallSources writes tables, a database's tables, logs and sets of so few entries that counts
// are 0, 1 and 2, with filters and without, and returns their names.
func smallSources(t *testing.T) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for n := range 3 {
		in := tempFile(t, fmt.Sprint(n), "a\t1\nb\t2\n"[:4*n])
		internal := tempFile(t, fmt.Sprint(n), strings.Join([]string{"a\t2\tset\t1\n", "b\t1\tdelete\t\n"}[:n], ""))
		for name, flags := range map[string]string{
			"default.ldb": "", "plain.ldb": "--bits none", "one.ldb": "--bits 1", "bloom.ldb": "--table-filter table-bloom:1", "fuse.sst": "--bits none --table-filter fuse:8", "none.ldb": "-c none",
			"only.filter": "--filter-only", "bloom.filter": "--filter-only --table-filter table-bloom:1", "blocks.ldb": "--block-size 1 --properties", "set/": "--entries-per-table 1",
		} {
			out := fmt.Sprint(dir, "/", n, name)
			mustSST(t, append(strings.Fields("build "+flags), "-o", out, in)...)
			names = append(names, out)
		}
		out := fmt.Sprint(dir, "/", n, "versions.ldb")
		mustSST(t, "build", "--internal-keys=yes", "-o", out, internal)
		names = append(names, out)
	}
	return names
}

// Commands print correct counts for tables with 0, 1 and 2 entries.
func TestCountsOfSmallTables(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	names := smallSources(t)
	damaged, rescued := filepath.Join(t.TempDir(), "damaged.ldb"), filepath.Join(t.TempDir(), "rescued.ldb")
	for _, name := range names {
		commands := [][]string{
			{"stats", name}, {"verify", name}, {"scan", name}, {"scan", "--where", name}, {"get", "--explain", name, "a", "b", "c"}, {"get", name, "a", "b", "zz"},
			{"diff", "--summary", name, names[0]},
		}
		if contents, err := os.ReadFile(name); err == nil { // no set
			commands = append(commands, []string{"layout", name}, []string{"manifest", name}, []string{"convert", name, "-o", rescued})
			for _, change := range []int{0, len(contents) / 2, len(contents) - 1} {
				checkDamaged(t, damaged, rescued, contents, change)
			}
		}
		for _, args := range commands {
			checkCounts(t, args)
		}
	}
}

// checkDamaged changes a byte of a table, and checks the messages about the damage.
func checkDamaged(t *testing.T, damaged, rescued string, contents []byte, change int) {
	t.Helper()
	contents = append([]byte{}, contents...)
	contents[change] ^= 0xff
	writeFile(t, damaged, contents)
	for _, args := range [][]string{{"verify", damaged}, {"layout", damaged}, {"get", damaged, "a", "b"}, {"repair", damaged, "-o", rescued}} {
		checkCounts(t, args)
	}
}

func checkCounts(t *testing.T, args []string) {
	t.Helper()
	_, stdout, stderr := sst(args...)
	for line := range strings.Lines(stdout + stderr) {
		if wrong := wrongCounts.FindString(line); wrong != "" {
			t.Errorf("sst %q says %q in %s", args, wrong, line)
		}
	}
}

// Builds of few pairs print correct counts too.
func TestCountsOfSmallBuilds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 3 {
		in := tempFile(t, fmt.Sprint(n), "a\t1\na\t1\nb\t2\nb\t2\n"[:8*n])
		for _, flags := range []string{"", "--filter-only", "--on-duplicate first", "--on-duplicate last --filter-only", "--entries-per-table 1 --on-duplicate first"} {
			checkCounts(t, append(strings.Fields(fmt.Sprint("build -o ", dir, "/", n, "out ", flags)), in))
		}
	}
}
