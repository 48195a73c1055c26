package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/internalkey"
)

// If a log has lost writes, a repair keeps an entry of an unlisted table if its sequence number may be that of a lost
// write: other entries were never committed. --certain leaves out entries of listed tables if a lost write may be
// newer. This includes an entry with the number of a lost write, since engines reuse the numbers of failed writes.
func TestRepairBesideLostWrites(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage         func(t *testing.T, log string)
		spare, certain string
	}{
		"none":            {func(*testing.T, string) {}, "l5 l6 l7 l8", "l5 l6 l7 l8 t1 t2 t3 t4 t5 t6 t7 t8 t9"},
		"the first write": {func(t *testing.T, log string) { flipAt(t, log, 10) }, "l6 l7 l8 t1 t2 t3 t4 t5 t6 t7", "l8 t8 t9"}, // the others may be of a log in a value
		"the end":         {func(t *testing.T, log string) { os.Truncate(log, 60) }, "l5 l6 l8 t7", "l8 t8 t9"},
		"the log":         {func(t *testing.T, log string) { os.Truncate(log, 0) }, "l8 t1 t2 t3 t4 t5 t6 t7", "l8 t8 t9"},
	} {
		for option, want := range map[string]string{"--certain=false": tt.spare, "--certain": tt.certain} {
			d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
			d.log(t, []rawEntry{{"l5", 5, 1, "5"}, {"l6", 6, 1, "6"}, {"l7", 7, 1, "7"}})
			d.log(t, []rawEntry{{"l8", 8, 1, "8"}})
			var entries []rawEntry
			for i := range uint64(9) {
				entries = append(entries, rawEntry{fmt.Sprint("t", i+1), i + 1, 1, "table"})
			}
			if d.table(t, 1, 1, entries, nil); option != "--certain" {
				d.tables = nil
			}
			d.last = 4
			d.end(t)
			tt.damage(t, filepath.Join(d.dir, "000001.log"))
			status, out, stderr := sst("repair", option, d.dir, "-o", d.dir+".new")
			got := strings.Join(strings.Fields(mustSST(t, "scan", "--keys", d.dir+".new")), " ")
			if diff := cmp.Diff(want, got); diff != "" || (status == cli.ExitOK) != (name == "none") {
				t.Errorf("%s damaged, %s: status %d (-want +got):\n%s\n%s%s", name, option, status, diff, out, stderr)
			}
		}
	}
}

// If no block of a table can be read, a repair names all of its keys as lost, and --certain leaves out their older
// versions.
func TestRepairWithoutBlocks(t *testing.T) {
	t.Parallel()
	for name, contents := range map[string][]byte{
		"missing": nil,
		"empty":   {},
		"a byte":  {0},
		"short":   bytes.Repeat([]byte{1}, 20),
		"zeros":   make([]byte, 4096),
		"text":    bytes.Repeat([]byte("no table\n"), 99),
	} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		d.table(t, 2, 1, []rawEntry{{"a", 1, 1, "old"}, {"b", 2, 1, "old"}, {"d", 3, 1, "older"}}, nil)
		file := d.table(t, 1, 1, []rawEntry{{"a", 4, 1, "new"}, {"c", 5, 1, "new"}}, nil)
		d.table(t, 1, 1, []rawEntry{{"x", 6, 1, "sound"}}, nil)
		d.end(t)
		if writeFile(t, file, contents); contents == nil {
			noError(t, os.Remove(file))
		}
		for option, want := range map[string]string{"--certain=false": "a\told\nb\told\nd\tolder\nx\tsound\n", "--certain": "d\tolder\nx\tsound\n"} {
			repaired := filepath.Join(t.TempDir(), "new")
			status, out, stderr := sst("repair", option, d.dir, "-o", repaired)
			_, got, _ := sst("scan", repaired)
			lost := `000002.ldb: lost the keys ≥ "a" and ≤ "c" (`
			if diff := cmp.Diff(want, got); diff != "" || status != cli.ExitDamaged || !strings.Contains(stderr, lost) {
				t.Errorf("%s: sst repair %s: status %d, want %d, and %q (-want +got):\n%s\n%s%s", name, option, status, cli.ExitDamaged, lost, diff, out, stderr)
			}
		}
	}
}

// A damaged MANIFEST has lost the edit that makes the table with an old value obsolete. Its sound edits make the
// table with the deletion obsolete, which a compaction has dropped since. The value stays deleted, and the values of
// an obsolete table do not come back, whether that table is sound or damaged.
func TestDeletionsOfObsoleteTables(t *testing.T) {
	t.Parallel()
	for _, isDamaged := range []bool{false, true} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		d.table(t, 2, 4, []rawEntry{{"gone", 1, 1, "old"}, {"kept", 2, 1, "2"}}, nil)
		obsolete := d.table(t, 1, 1, []rawEntry{{"gone", 5, 0, ""}, {"only", 6, 1, "obsolete"}, {"other", 7, 1, "obsolete"}}, nil)
		d.table(t, 2, 4, []rawEntry{{"live", 8, 1, "8"}}, nil)
		d.end(t)
		if isDamaged {
			flipAt(t, obsolete, int64(layoutOf(t, obsolete).Index.Offset))
		}
		marked := versions.Field{Kind: versions.FieldDelete, Table: versions.Table{Level: 1, Number: 2}}.Append(nil)
		lost := bytes.Repeat([]byte{byte(versions.FieldLog), 1}, 10)
		d.addEdits(t, marked, lost)
		manifest := filepath.Join(d.dir, "MANIFEST-000000")
		flipAt(t, manifest, input.TotalSize([]string{manifest})-3)
		checkSST(t, cli.ExitDamaged, "000002.ldb, which MANIFEST-000000 marks obsolete, but not the deletions there", "repair", d.dir, "-o", d.dir+".new")
		checkPrints(t, "kept\t2\nlive\t8\n", "scan", d.dir+".new")
	}
}

// goleveldb's repair drops tables with compressions that it does not know, as sst's note says, and keeps tables
// without a note.
func TestNotRepaired(t *testing.T) {
	for name := range compressions {
		const entries = 500
		dir, in := t.TempDir(), tempFile(t, "in.tsv", numberedLines(entries, "key%03[1]d\t3\tset\tvalue value value %[1]d"))
		status, _, stderr := sst("build", "--internal-keys=yes", "-c", name, "-o", filepath.Join(dir, "000005.ldb"), in)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", name, status, stderr)
		}
		got, err := entriesOf(leveldb.RecoverFile(dir, nil))
		noError(t, err)
		want := entries
		if strings.Contains(stderr, "silently") {
			want = 0
		}
		if len(got) != want || notRepaired[name] != "" && want > 0 {
			t.Errorf("%s: %d entries after the repair, want %d; %s", name, len(got), want, stderr)
		}
	}
}

// A repair leaves out the entries of a transaction that was open when goleveldb was killed, since they were never
// committed.
func TestRepairLeavesOutWhatWasNotCommitted(t *testing.T) {
	scripttest.OnUnix(t)
	t.Parallel()
	live := t.TempDir()
	db, err := leveldb.OpenFile(live, &opt.Options{WriteBuffer: 1 << 10})
	noError(t, err)
	defer db.Close()
	noError(t, db.Put([]byte("ada"), []byte("1"), nil))
	tr, err := db.OpenTransaction()
	noError(t, err)
	defer tr.Discard()
	for _, key := range []string{"ada", "bob", "cy", "dot"} {
		noError(t, tr.Put([]byte(key), make([]byte, 1<<10), nil))
	}
	killed, repaired := copyOf(t, live), filepath.Join(t.TempDir(), "new")
	status, out, stderr := sst("repair", "--certain", killed, "-o", repaired)
	_, scanned, _ := sst("scan", repaired)
	if status != 0 || scanned != "ada\t1\n" || !strings.Contains(stderr, "neither lists nor marks obsolete, only for lost keys") {
		t.Errorf("status %d, %s%s; the new database has %q, want ada", status, out, stderr, scanned)
	}
}

// A repair leaves out the entries of an open transaction even where entries with lower sequence numbers are lost.
func TestRepairLeavesOutWhatWasNotCommittedForLostKeys(t *testing.T) {
	t.Parallel()
	d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
	d.table(t, 2, 1, []rawEntry{{"ada", 1, internalkey.Set, "1"}}, nil)
	flipAt(t, d.table(t, 1, 2, []rawEntry{{"ada", 2, internalkey.Set, "2"}, {"cy", 3, internalkey.Set, "3"}}, nil), 0)
	d.end(t)
	d.table(t, 0, 3, []rawEntry{{"ada", 4, internalkey.Set, "4"}, {"bob", 5, internalkey.Set, "5"}, {"cy", 3, internalkey.Set, "3"}}, nil)
	status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
	if status != cli.ExitDamaged {
		t.Errorf("status %d, want %d\n%s%s", status, cli.ExitDamaged, out, stderr)
	}
	checkPrints(t, "ada\t1\ncy\t3\n", "scan", d.dir+".new")
}
