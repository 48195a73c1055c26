package command

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// In a database, a key whose entry has a kind that LevelDB lacks is lost. Each command says so, and continues with
// other keys as after other damage.
func TestKindThatLevelDBLacks(t *testing.T) {
	t.Parallel()
	for kind, name := range map[internalkey.Kind]string{2: "a merge operand", 7: "a single deletion", 9: "which no known engine", 255: "which no known engine"} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		file := d.table(t, 1, 2, []rawEntry{{"a", 1, 1, "1"}, {"b", 9, kind, "x"}, {"b", 2, 1, "old"}, {"c", 3, 1, "3"}}, nil)
		d.end(t)
		said := fmt.Sprintf(`data block at 0 (38 bytes): key "b" with sequence number 9 is of kind %d, %s`, kind, name)
		lost := `000001.ldb: lost the keys ≥ "b" and ≤ "b" (` + said
		repaired := d.dir + ".new"
		for _, tt := range []struct {
			args   []string
			status int
			out    string // standard output; "": not compared
			said   string
		}{
			{[]string{"verify", d.dir}, cli.ExitDamaged, "", "000001.ldb: table: " + said},
			{[]string{"verify", file}, cli.ExitDamaged, "", "000001.ldb: table: " + said},
			{[]string{"scan", d.dir}, cli.ExitDamaged, "a\t1\nc\t3\n", lost},
			{[]string{"scan", "--reverse", d.dir}, cli.ExitDamaged, "c\t3\na\t1\n", lost},
			{[]string{"scan", "--strict", d.dir}, cli.ExitDamaged, "a\t1\n", said},
			{[]string{"scan", "--versions=false", file}, cli.ExitDamaged, "a\t1\nc\t3\n", lost},
			{[]string{"scan", "--versions", "--keys", d.dir}, cli.ExitOK, fmt.Sprintf("a\t1\tset\nb\t9\t%d\nb\t2\tset\nc\t3\tset\n", kind), ""},
			{[]string{"scan", "--keys", file}, cli.ExitOK, fmt.Sprintf("a\t1\tset\nb\t9\t%d\nb\t2\tset\nc\t3\tset\n", kind), ""},
			{[]string{"get", d.dir, "a", "b", "c"}, cli.ExitDamaged, "a\t1\nc\t3\n", said},
			{[]string{"get", file, "a", "b", "c"}, cli.ExitDamaged, "a\t1\nc\t3\n", said},
			{[]string{"get", d.dir, "c"}, cli.ExitOK, "3\n", ""},
			{[]string{"repair", d.dir, "-o", repaired}, cli.ExitDamaged, "", lost},
			{[]string{"scan", repaired}, cli.ExitOK, "a\t1\nc\t3\n", ""},
			{[]string{"diff", d.dir, repaired}, cli.ExitDamaged, "", lost},
			{[]string{"merge", d.dir, "-o", d.dir + ".ldb"}, cli.ExitDamaged, "", said},
			{[]string{"merge", "--database", d.dir, "-o", d.dir + ".2"}, cli.ExitDamaged, "", said},
		} {
			status, out, stderr := sst(tt.args...)
			if status != tt.status || tt.out != "" && out != tt.out || !strings.Contains(out+stderr, tt.said) {
				t.Errorf("kind %d: sst %q: status %d, want %d\n%s%s\nwant %q, and %q", kind, tt.args, status, tt.status, out, stderr, tt.out, tt.said)
			}
		}
	}
}

// A table that no MANIFEST lists may come from an engine that has these kinds. It is sound, but the value of such a
// key is unknown.
func TestKindsOfATableByItself(t *testing.T) {
	t.Parallel()
	for kind, said := range map[internalkey.Kind]string{2: "kind 2, a merge operand of RocksDB", 7: "kind 7, a single deletion of RocksDB or Pebble"} {
		d := &rawDatabase{dir: t.TempDir()}
		file := d.table(t, 1, 2, []rawEntry{{"a", 1, 1, "1"}, {"b", 9, kind, ""}, {"b", 2, 1, "old"}, {"c", 3, 1, "3"}}, nil)
		mustSST(t, "verify", file)
		mustSST(t, "scan", "--versions", file)
		advice := " can read (sst scan --versions " + format.ShellPath(file) + " prints it)"
		for want, args := range map[string][]string{"a\t1\n": {"scan", "--versions=false", file}, "": {"get", file, "b"}} {
			if status, out, stderr := sst(args...); status != cli.ExitUsage || out != want || !strings.Contains(stderr, said) || !strings.Contains(stderr, advice) {
				t.Errorf("sst %q: status %d, %q, %s; want %q, and %q", args, status, out, stderr, want, said)
			}
		}
	}
}

// randomKinds writes a database of n versions of random kinds, the newer ones on lower levels, and returns the newest
// version of each key, and whether all kinds are LevelDB's.
func randomKinds(t *testing.T, rng *rand.Rand, d *rawDatabase, n int) (newest map[string]rawEntry, sound bool) {
	t.Helper()
	newest, sound = map[string]rawEntry{}, true
	var all []rawEntry
	for i := range n {
		e := rawEntry{fmt.Sprintf("key%03d", rng.IntN(1+n/2)), uint64(i + 1), internalkey.Kind(rng.IntN(5) / 2 % 2), ""}
		if rng.IntN(20) == 0 {
			e.kind = []internalkey.Kind{2, 7, 9, 255, internalkey.Kind(rng.IntN(256))}[rng.IntN(5)]
		}
		if e.kind != internalkey.Delete {
			e.value = fmt.Sprint("value", i)
		}
		sound = sound && e.kind <= internalkey.Set
		all, newest[e.key] = append(all, e), e
	}
	for _, level := range []int{3, 2, 1, 0, 0} {
		if m := rng.IntN(len(all) + 1); m > 0 {
			d.table(t, level, 1+rng.IntN(20), slices.Clone(all[:m]), nil)
			all = all[m:]
		}
	}
	if len(all) > 0 {
		d.table(t, 0, 1+rng.IntN(20), all, nil)
	}
	d.end(t)
	return newest, sound
}

// verify finds all kinds that LevelDB lacks, even below newer versions. scan and repair show the other keys, and name
// the keys whose newest version has such a kind. The library reports corruption for the same databases as scan.
func TestRandomKinds(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed, rng := range seeds(60, 71) {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		newest, sound := randomKinds(t, rng, d, 1+rng.IntN(200))
		want, lost := "", map[string]rawEntry{}
		for _, key := range slices.Sorted(maps.Keys(newest)) {
			switch e := newest[key]; e.kind {
			case internalkey.Set:
				want += key + "\t" + e.value + "\n"
			case internalkey.Delete:
			default:
				lost[key] = e
			}
		}
		if status, out, _ := sst("verify", d.dir); (status == cli.ExitOK) != sound {
			t.Fatalf("seed %d: verify: status %d, sound is %t\n%s", seed, status, sound, out)
		}
		status, out, stderr := sst("scan", d.dir)
		if diff := cmp.Diff(want, out); diff != "" || (status == cli.ExitOK) != (len(lost) == 0) {
			t.Fatalf("seed %d: scan: status %d, %d keys are lost (-want +got):\n%s\n%s", seed, status, len(lost), diff, stderr)
		}
		said := dbdamage.Hear(stderr)
		for key, e := range newest {
			if _, isLost := lost[key]; isLost != said.Names(key, e.sequence) {
				t.Errorf("seed %d: key %s of kind %d: lost is %t\n%s", seed, key, e.kind, isLost, stderr)
			}
		}
		if _, err := readDatabase(d.dir); errors.Is(err, table.ErrCorrupt) != (len(lost) > 0) {
			t.Errorf("seed %d: the library: %v, and %d keys are lost", seed, err, len(lost))
		}
		status, _, stderr = sst("repair", d.dir, "-o", d.dir+".new")
		if _, repaired, _ := sst("scan", d.dir+".new"); (status == cli.ExitOK) != (len(lost) == 0) || repaired != want {
			t.Errorf("seed %d: repair: status %d, %s\n%s", seed, status, stderr, cmp.Diff(want, repaired))
		}
	}
}

// A write in a log with a kind that LevelDB lacks is damage of the log for all readers.
func TestKindInALog(t *testing.T) {
	t.Parallel()
	for _, kind := range []internalkey.Kind{2, 7, 9, 255} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		d.log(t, []rawEntry{{"a", 1, 1, "1"}, {"b", 2, kind, "x"}, {"c", 3, 1, "3"}})
		d.end(t)
		verified, out, _ := sst("verify", d.dir)
		scanned, shown, stderr := sst("scan", d.dir)
		said := dbdamage.Hear(stderr)
		if _, err := readDatabase(d.dir); verified != cli.ExitDamaged || scanned != cli.ExitDamaged || shown != "a\t1\nc\t3\n" || !said.Names("b", 2) || !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("kind %d: verify %d, scan %d, the library %v\n%s%s%s", kind, verified, scanned, err, out, shown, stderr)
		}
	}
}

// A key whose kind LevelDB lacks is lost because of its kind, even if a repair sorts its table. It is not reported as
// misplaced.
func TestRepairNamesKinds(t *testing.T) {
	t.Parallel()
	const said = "is of kind 7, a single deletion"
	for name, tt := range map[string]struct {
		size       int // of blocks
		disorder   func(sorted []rawEntry)
		noManifest bool
		noIndex    bool
	}{
		"in order":                     {size: 2},
		"in order, without a MANIFEST": {size: 2, noManifest: true},
		"in order, without its index":  {size: 2, noIndex: true},
		"without both":                 {size: 2, noManifest: true, noIndex: true},
		"sorted, in another block":     {size: 3, disorder: swap(3, 4)},
		"sorted, in the same block":    {size: 6, disorder: swap(3, 4)},
		"sorted, in blocks of one":     {size: 1, disorder: swap(3, 4)},
	} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		file := d.table(t, 1, tt.size, []rawEntry{{"a", 1, 1, "1"}, {"b", 9, 7, "x"}, {"b", 2, 1, "old"}, {"c", 3, 1, "3"}, {"d", 4, 1, "4"}, {"e", 5, 1, "5"}}, tt.disorder)
		d.end(t)
		if tt.noIndex {
			flipAt(t, file, int64(layoutOf(t, file).Index.Offset))
		}
		if tt.noManifest {
			noError(t, errors.Join(os.Remove(filepath.Join(d.dir, "CURRENT")), os.Remove(filepath.Join(d.dir, "MANIFEST-000000"))))
		}
		status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
		wrong := strings.Contains(stderr, `≥ "b" and ≤ "b": sorted`) || strings.Contains(stderr, "it is not in the range")
		if status != cli.ExitDamaged || !strings.Contains(stderr, said) || wrong {
			t.Errorf("%s: repair: status %d, want %d, and %q only\n%s%s", name, status, cli.ExitDamaged, said, out, stderr)
		}
		if got, want := mustSST(t, "scan", d.dir+".new"), "a\t1\nc\t3\nd\t4\ne\t5\n"; got != want {
			t.Errorf("%s: the new database has %q, want %q", name, got, want)
		}
	}
}

// Without an index, blocks after a gap in a table may belong to another file. So a repair leaves out keys with kinds
// that LevelDB lacks there, and all keys after the gap are lost.
func TestKindsBehindAGap(t *testing.T) {
	t.Parallel()
	for _, kind := range []internalkey.Kind{2, 7, 9, 255} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		file := d.table(t, 1, 1, []rawEntry{{"a", 1, 1, "1"}, {"b", 9, kind, "x"}, {"b", 2, 1, "old"}, {"c", 3, 1, "3"}}, nil)
		d.end(t)
		l := layoutOf(t, file)
		flipAt(t, file, int64(l.Data[0].Offset))
		flipAt(t, file, int64(l.Index.Offset))
		status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
		_, got, _ := sst("scan", d.dir+".new")
		if want := "b\told\nc\t3\n"; got != want || status != cli.ExitDamaged || !strings.Contains(stderr, `lost the keys ≥ "a" and ≤ "c" (`) {
			t.Errorf("kind %d: repair: status %d, %q, want %q\n%s%s", kind, status, got, want, out, stderr)
		}
	}
}

// layoutOf returns the layout of a table.
func layoutOf(t *testing.T, path string) *layout.Layout {
	t.Helper()
	f, err := dbfile.Open(path, dbfile.Options{})
	noError(t, err)
	t.Cleanup(func() { f.Close() }) // it was only read, and the Layout reads it
	return f.Layout
}
