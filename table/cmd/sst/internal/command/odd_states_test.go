package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A repair keeps a table's keys outside its MANIFEST range, and says that another table may be lost.
func TestRepairKeepsKeysOutOfRange(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		from, to string
		status   int
	}{
		{"the range of the table", "a", "c", cli.ExitOK},
		{"a larger range", "a", "d", cli.ExitDamaged},
		{"without the last keys", "a", "a", cli.ExitDamaged},
		{"without the first keys", "b", "c", cli.ExitDamaged},
		{"without both", "b", "b", cli.ExitDamaged},
		{"another range", "d", "e", cli.ExitDamaged},
		{"a backward range", "c", "a", cli.ExitOK},
	} {
		for level := range 2 {
			t.Run(fmt.Sprintf("%s, level %d", tt.name, level), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "db")
				d := &rawDatabase{dir: dir}
				d.table(t, level, 9, []rawEntry{{"a", 1, internalkey.Set, "1"}, {"b", 1, internalkey.Set, "2"}, {"c", 1, internalkey.Set, "3"}}, nil)
				d.lastTable().Smallest, d.lastTable().Largest = internalKey(tt.from), internalKey(tt.to)
				d.end(t)
				checkOutOfRange(t, dir, tt.from <= "a" && tt.to >= "c", tt.status)
				checkSST(t, tt.status, "", "repair", dir, "-o", dir+".new")
				checkPrints(t, "a\t1\nb\t2\nc\t3\n", "scan", dir+".new")
			})
		}
	}
}

// checkOutOfRange checks that a scan names the keys a to c of a table that it does not show.
func checkOutOfRange(t *testing.T, dir string, inRange bool, want int) {
	t.Helper()
	for _, args := range [][]string{{"scan", dir}, {"scan", "--reverse", dir}} {
		status, out, stderr := sst(args...)
		said := dbdamage.Hear(stderr)
		for _, key := range []string{"a", "b", "c"} {
			shown, named := strings.Contains(out, key+"\t"), said.Names(key, 1)
			if named != (want == cli.ExitDamaged) || shown != (inRange || !named) {
				t.Errorf("sst %q: key %s is shown: %t, and named as lost: %t\n%s%s", args, key, shown, named, out, stderr)
			}
		}
		if status != want {
			t.Errorf("sst %q: status %d, want %d", args, status, want)
		}
	}
}

// Entries above the MANIFEST's last sequence number are hidden, as in engines, with a note. A repair keeps them.
// verify reports damage of the MANIFEST.
func TestSequenceNumbersAboveTheLast(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my db")
	d := &rawDatabase{dir: dir}
	d.table(t, 2, 9, []rawEntry{{"a", 5, internalkey.Set, "5"}, {"a", 2, internalkey.Set, "2"}}, nil)
	d.table(t, 1, 9, []rawEntry{{"b", 4, internalkey.Set, "4"}}, nil)
	d.last = 3
	d.end(t)
	note := fmt.Sprintf("sst: note: %s: entries with sequence numbers ≥ 4, above the MANIFEST's last one, are hidden, as in engines. To keep them, run: sst repair %s -o NEW\n", dir, format.ShellPath(dir))
	fault := filepath.Join(dir, "MANIFEST-000000") + ": the last sequence number is 3, but 000001.ldb has 5: engines hide newer entries\n"
	advice := fmt.Sprintf("sst: restore the damaged or missing files, or run: sst repair %s -o NEW\n", format.ShellPath(dir))
	for _, tt := range []struct {
		args        []string
		status      int
		out, stderr string
	}{
		{[]string{"scan", dir}, cli.ExitOK, "a\t2\n", note},
		{[]string{"scan", "--reverse", dir}, cli.ExitOK, "a\t2\n", note},
		{[]string{"scan", "--all-tables", dir}, cli.ExitOK, "a\t5\nb\t4\n", ""},
		{[]string{"get", dir, "a"}, cli.ExitOK, "2\n", ""},
		{[]string{"get", dir, "b"}, cli.ExitNegative, "", ""},
		{[]string{"verify", "--quiet", dir}, cli.ExitDamaged, fault, "sst: 1 of 4 files is damaged or missing\n" + advice},
		{[]string{"repair", dir, "-o", dir + ".new"}, cli.ExitOK, dir + ": wrote 2 pairs to " + dir + ".new\n", ""},
		{[]string{"scan", dir + ".new"}, cli.ExitOK, "a\t5\nb\t4\n", ""},
	} {
		if status, out, stderr := sst(tt.args...); status != tt.status || out != tt.out || stderr != tt.stderr {
			t.Errorf("sst %q: status %d, %q, %q; want %d, %q, %q", tt.args, status, out, stderr, tt.status, tt.out, tt.stderr)
		}
	}
}

// After a transaction, goleveldb can record too low a last sequence number. It then hides the transaction's entries,
// unless a log continues after them. verify reports it.
func TestLastSequenceBelowATransaction(t *testing.T) {
	t.Parallel()
	for _, logged := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "db")
		d := &rawDatabase{dir: dir}
		d.table(t, 0, 9, []rawEntry{{"a", 2, internalkey.Set, "committed"}}, nil)
		d.table(t, 0, 9, []rawEntry{{"b", 1, internalkey.Set, "flushed"}}, nil)
		want, wantStatus, scanned := "the last sequence number is 1, but 000001.ldb has 2", cli.ExitDamaged, "a\tcommitted\nb\tflushed\n"
		if logged {
			d.log(t, []rawEntry{{"c", 3, internalkey.Set, "logged"}})
			d.last, want, wantStatus, scanned = 2, "", cli.ExitOK, scanned+"c\tlogged\n"
		}
		d.end(t)
		d.addEdits(t, versions.Field{Kind: versions.FieldSequence, Table: versions.Table{Number: 1}}.Append(nil))
		if status, out, stderr := sst("verify", "--quiet", dir); status != wantStatus || !strings.Contains(out, want) || logged && out != "" {
			t.Errorf("logged: %t: sst verify: status %d, %s%s", logged, status, out, stderr)
		}
		if status, out, stderr := sst("scan", dir); status != cli.ExitOK || out != scanned || stderr != "" {
			t.Errorf("logged: %t: sst scan: status %d, %s%s", logged, status, out, stderr)
		}
	}
}

// If a later edit of the MANIFEST is damaged, the comparator comes from a sound one.
func TestComparatorOfDamagedManifest(t *testing.T) {
	t.Parallel()
	const reverse = "leveldb.ReverseBytewiseComparator"
	dir := filepath.Join(t.TempDir(), "db")
	d := &rawDatabase{dir: dir, comparer: reverse}
	d.table(t, 1, 9, []rawEntry{{"a", 1, internalkey.Set, "1"}}, nil)
	d.end(t)
	manifest := readFile(t, filepath.Join(dir, "MANIFEST-000000"))
	damaged := append(manifest, manifest...)
	damaged[len(damaged)-1] ^= 1
	d.write(t, "MANIFEST-000000", damaged)
	status, out, stderr := sst("repair", dir, "-o", dir+".new")
	if status != cli.ExitDamaged || strings.Contains(stderr, "comparator") {
		t.Errorf("sst repair: status %d, %s%s", status, out, stderr)
	}
	for _, command := range []string{"verify", "scan"} {
		if _, _, stderr := sst(command, "--comparator", "reverse", dir); !strings.Contains(stderr, "sst repair --comparator reverse "+format.ShellPath(dir)+" -o NEW\n") {
			t.Errorf("sst %s suggests no repair in the order of its --comparator: %s", command, stderr)
		}
	}
	if summary := mustSST(t, "stats", dir+".new"); !strings.Contains(summary, reverse) {
		t.Errorf("the new database is not in the order of %s: %s", reverse, summary)
	}
}
