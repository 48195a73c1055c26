package command

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/internalkey"
)

// numberedEntries returns n entries with different keys.
func numberedEntries(n int) (all []rawEntry) {
	for i := range n {
		all = append(all, rawEntry{fmt.Sprintf("key%06d", i), uint64(i + 1), internalkey.Set, fmt.Sprint("value", i)})
	}
	return all
}

// swap returns a function that swaps two entries.
func swap(i, j int) func([]rawEntry) {
	return func(all []rawEntry) { all[i], all[j] = all[j], all[i] }
}

// Repair and salvage sort keys that are out of order under valid checksums, and name them. If the first or last key
// of a table was altered, repair names it, since the MANIFEST has it.
func TestDisorderIsSorted(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const sorted = "keys out of order among the keys "
	for name, tt := range map[string]struct {
		disorder func(all []rawEntry)
		pairs    int
		said     []string // by repair
		salvaged string   // by salvage; "": nothing
	}{
		"within a block":                       {swap(130, 131), 3000, []string{sorted + `≥ "key000099" and ≤ "key000199": kept and sorted`}, `sorted the key "key000130", sequence 131 (keys are out of order`},
		"between blocks":                       {swap(130, 1750), 3000, []string{sorted + `≥ "key000099" and ≤ "key000199": kept and sorted`, sorted + `≥ "key001699" and ≤ "key001799": kept and sorted`, sorted + `≥ "key001750" and ≤ "key001750": kept and sorted`}, `sorted the key "key001750", sequence 1751 (`},
		"last of a block":                      {swap(99, 100), 3000, []string{sorted + `≥ "key000000" and ≤ "key000199": kept and sorted`, "and 1 more place"}, `sorted the key "key000100", sequence 101 (`},
		"a key that was altered":               {func(all []rawEntry) { all[130].key = "kez000130" }, 3000, []string{sorted + `≥ "key000099" and ≤ "key000199": kept and sorted, but some may be corrupt, and the original keys lost`, sorted + `≥ "kez000130" and ≤ "kez000130"`}, `sorted the key "kez000130", sequence 131 (`},
		"outside of the range of the MANIFEST": {func(all []rawEntry) { all[130].key = "zoo" }, 3000, []string{sorted + `≥ "zoo" and ≤ "zoo"`}, `sorted the key "zoo", sequence 131 (`},
		"a key that is too short":              {func(all []rawEntry) { all[130].key = short }, 2999, []string{sorted + `≥ "key000099" and ≤ "key000199": kept and sorted`, `lost the keys ≥ "short" and ≤ "short" (not an internal key)`}, `sorted the key "short" (`},
		"the first key":                        {func(all []rawEntry) { all[0].key = "ada" }, 3000, []string{`lost the keys ≥ "key000000" and ≤ "key000000" (not in the table`}, ""},
		"the last key":                         {func(all []rawEntry) { all[2999].key = "zoo" }, 3000, []string{`lost the keys ≥ "key002999" and ≤ "key002999" (not in the table`}, `sorted the key "zoo", sequence 3000 (`},
		"before the first key":                 {func(all []rawEntry) { all[130].key = "ada" }, 3000, []string{sorted + `≥ "ada" and ≤ "ada"`}, `sorted the key "ada", sequence 131 (`},
		"a key twice":                          {func(all []rawEntry) { all[131] = rawEntry{all[130].key, all[130].sequence, 1, "other"} }, 2999, []string{sorted, `lost the keys ≥ "key000130" and ≤ "key000130" (two entries with the same sequence number: kept the first in the file)`}, "skipped 1 pair with a repeated key"},
		"old before new":                       {func(all []rawEntry) { all[131].key, all[130].value = all[130].key, "old" }, 2999, []string{sorted + `≥ "key000099" and ≤ "key000199": kept and sorted`}, `sorted the key "key000130", sequence 132 (`},
	} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		file := d.table(t, 1, 100, numberedEntries(3000), tt.disorder)
		d.end(t)
		repaired := d.dir + ".new"
		status, out, stderr := sst("repair", d.dir, "-o", repaired)
		for _, said := range tt.said {
			if status != cli.ExitDamaged || !strings.Contains(stderr, said) {
				t.Errorf("%s: repair: status %d, want %d, and %q\n%s%s", name, status, cli.ExitDamaged, said, out, stderr)
			}
		}
		pairs := mustSST(t, "scan", repaired)
		if n := strings.Count(pairs, "\n"); n != tt.pairs || strings.Contains(pairs, "old") || strings.Contains(pairs, "other") {
			t.Errorf("%s: the new database has %d pairs, want the newest %d", name, n, tt.pairs)
		}
		status, out, _ = sst("repair", file, "-o", d.dir+".ldb")
		if (status == cli.ExitDamaged) != (tt.salvaged != "") || !strings.Contains(out, tt.salvaged) {
			t.Errorf("%s: salvage: status %d, want %q\n%s", name, status, tt.salvaged, out)
		}
	}
}

// If an older version may take the place of an altered key, --certain leaves it out.
func TestDisorderIsNotCertain(t *testing.T) {
	t.Parallel()
	d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
	d.table(t, 2, 100, []rawEntry{{"key000130", 1, 1, "old"}, {"key000730", 2, 1, "sound"}}, nil)
	newer := numberedEntries(300)
	for i := range newer {
		newer[i].sequence += 10
	}
	d.table(t, 1, 100, newer, func(all []rawEntry) { all[130].key = "kez000130" })
	d.end(t)
	asked := []string{"key000000", "key000130", "key000730", "kez000130"}
	for option, want := range map[string]string{"--certain=false": "key000000 key000130 key000730 kez000130", "--certain": "key000000 key000730"} {
		repaired := filepath.Join(t.TempDir(), "new")
		status, _, _ := sst("repair", option, d.dir, "-o", repaired)
		_, found, _ := sst("scan", "--keys", repaired)
		keys := slices.DeleteFunc(strings.Fields(found), func(key string) bool { return !slices.Contains(asked, key) })
		if diff := cmp.Diff(want, strings.Join(keys, " ")); diff != "" || status != cli.ExitDamaged {
			t.Errorf("repair %s: status %d (-want +got):\n%s", option, status, diff)
		}
	}
}

// Any number of tables are sorted one by one, and each loss is named once.
func TestDisorderInManyTables(t *testing.T) {
	t.Parallel()
	d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
	all := numberedEntries(2000)
	for part := range slices.Chunk(all, 100) {
		d.table(t, 1, 10, part, swap(13, 14))
	}
	d.end(t)
	status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
	if status != cli.ExitDamaged || strings.Count(stderr, "keys out of order among") != 20 || strings.Contains(stderr, "more place") {
		t.Errorf("status %d, want 20 losses\n%s%s", status, out, stderr)
	}
	if n := strings.Count(mustSST(t, "scan", d.dir+".new"), "\n"); n != len(all) {
		t.Errorf("%d pairs, want %d", n, len(all))
	}
}

// disorderly moves entries of a table within and between blocks, alters some, and repeats some. It adds the keys of
// repeated entries to repeated.
func disorderly(rng *rand.Rand, repeated map[string]bool) func(all []rawEntry) {
	return func(all []rawEntry) {
		for range rng.IntN(6) {
			i, j := rng.IntN(len(all)), rng.IntN(len(all))
			switch rng.IntN(5) {
			case 0:
				all[j] = rawEntry{all[i].key, all[i].sequence, all[i].kind, "repeated"}
			case 1:
				key := []byte(all[i].key)
				key[rng.IntN(len(key))] ^= 1 << rng.IntN(8)
				all[i].key = string(key)
			case 2:
				swap(i, min(i+1, len(all)-1))(all)
			default:
				swap(i, j)(all)
			}
		}
		sorted := slices.SortedFunc(slices.Values(all), rawEntry.compare)
		for i := 1; i < len(sorted); i++ {
			if sorted[i-1].compare(sorted[i]) == 0 {
				repeated[sorted[i].key] = true
			}
		}
	}
}

// A disorderedTable is a table of a database.
type disorderedTable struct {
	file        string
	first, last rawEntry        // as the MANIFEST says
	repeated    map[string]bool // keys of repeated entries
	noFooter    bool            // blocks are found by their checksums; those outside the range belong to other tables
}

// writeDisordered writes a database of random entries, the newer ones on lower levels, whose tables are disorderly.
func writeDisordered(t *testing.T, rng *rand.Rand, d *rawDatabase) (tables []*disorderedTable) {
	t.Helper()
	var all []rawEntry
	for i := range 1 + rng.IntN(400) {
		e := rawEntry{fmt.Sprintf("key%03d", rng.IntN(300)), uint64(i + 1), internalkey.Delete, ""}
		if rng.IntN(5) > 0 {
			e.kind, e.value = internalkey.Set, fmt.Sprint("value", i)
		}
		all = append(all, e)
	}
	for level := 6; len(all) > 0; level-- {
		n := 1 + rng.IntN(len(all))
		l := &disorderedTable{repeated: map[string]bool{}}
		l.file = d.table(t, max(0, level), 1+rng.IntN(20), all[:n:n], disorderly(rng, l.repeated))
		l.first, l.last = all[0], all[n-1]
		tables, all = append(tables, l), all[n:]
	}
	d.end(t)
	if l := tables[rng.IntN(len(tables))]; rng.IntN(3) == 0 {
		l.noFooter, l.repeated = true, nil
		contents := readFile(t, l.file)
		writeFile(t, l.file, append(contents[:len(contents)-48], make([]byte, 48)...))
	}
	return tables
}

// salvage adds the entries that sst repair finds in the table to newest, by key in hexadecimal, unless it has newer
// ones. It reports whether repair finds damage.
func (l *disorderedTable) salvage(t *testing.T, newest map[string]rawEntry) (damaged bool) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.ldb")
	status, said, stderr := sst("repair", l.file, "-o", out, "--internal-keys", "yes")
	listed, scanned, failed := sst("scan", "-f", "hex", "--internal-keys", "yes", "--comparator", "bytewise", out)
	if listed != cli.ExitOK {
		t.Fatalf("%s\n%s%s%s%s", l.file, said, stderr, scanned, failed)
	}
	for line := range strings.Lines(scanned) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		key, _ := hex.DecodeString(f[0])
		sequence, _ := strconv.ParseUint(f[1], 10, 64)
		e := rawEntry{string(key), sequence, map[string]internalkey.Kind{"set": internalkey.Set, "delete": internalkey.Delete}[f[2]], f[3]}
		if l.noFooter && (e.compare(l.first) < 0 || e.compare(l.last) > 0) {
			continue
		}
		if old, found := newest[f[0]]; !found || e.compare(old) < 0 {
			newest[f[0]] = e
		}
	}
	return status != cli.ExitOK
}

// Whatever the entries of tables and their order, repair keeps the entries that salvage keeps, or newer versions. It
// names the keys of repeated entries that it leaves out.
func TestRepairKeepsWhatSalvageDoes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed, rng := range seeds(rounds(40, 300), 72) {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		tables, newest := writeDisordered(t, rng, d), map[string]rawEntry{}
		verified, _, _ := sst("verify", d.dir)
		damaged, noFooter := verified != cli.ExitOK, false
		for _, l := range tables {
			found := l.salvage(t, newest)
			damaged, noFooter = damaged || found, noFooter || l.noFooter
		}
		want := ""
		for _, key := range slices.Sorted(maps.Keys(newest)) {
			if e := newest[key]; e.kind == internalkey.Set {
				want += key + "\t" + e.value + "\n"
			}
		}
		status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
		_, got, _ := sst("scan", "-f", "hex", d.dir+".new")
		if diff := cmp.Diff(want, got); diff != "" || !noFooter && (status == cli.ExitOK) == damaged {
			t.Fatalf("seed %d: repair: status %d, verify or salvage find damage: %t (-salvaged +repaired)\n%s\n%s%s", seed, status, damaged, diff, out, stderr)
		}
		said := dbdamage.Hear(stderr)
		for _, l := range tables {
			for key := range l.repeated {
				if !said.Names(key, 0) {
					t.Errorf("seed %d: key %q is in %s twice, and not named:\n%s", seed, key, l.file, stderr)
				}
			}
		}
	}
}
