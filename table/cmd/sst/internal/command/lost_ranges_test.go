package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// The keys lost with a table are those in its MANIFEST range, unless that range is invalid, or keys are read as if
// they had no sequence numbers.
func TestLostRangesOfTables(t *testing.T) {
	t.Parallel()
	const anyKey = "lost the keys of an unknown range ("
	for name, tt := range map[string]struct {
		from, to string // of the range
		args     string
		said     string
	}{
		"a range":                 {"a", "c", "", `lost the keys ≥ "a" and ≤ "c" (`},
		"a range of one key":      {"b", "b", "", `lost the keys ≥ "b" and ≤ "b" (`},
		"a backward range":        {"c", "a", "", anyKey},
		"internal keys":           {"a", "c", "--internal-keys=yes", `lost the keys ≥ "a" and ≤ "c" (`},
		"no internal keys":        {"a", "c", "--internal-keys=no", anyKey},
		"another order":           {"c", "a", "--comparator=reverse", `lost the keys ≥ "c" and ≤ "a" (`},
		"another, backward order": {"a", "c", "--comparator=reverse", anyKey},
	} {
		for _, isMissing := range []bool{false, true} {
			d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
			d.table(t, 1, 1, []rawEntry{{"x", 4, 1, "4"}}, nil)
			file := d.table(t, 2, 1, []rawEntry{{"a", 1, 1, "1"}, {"c", 3, 1, "3"}}, nil)
			listed := d.lastTable()
			listed.Smallest, listed.Largest = internalKey(tt.from), internalKey(tt.to)
			d.end(t)
			if flipAt(t, file, int64(listed.Size)-1); isMissing {
				os.Remove(file)
			}
			commands := [][]string{{"scan", d.dir}}
			if isMissing && !strings.HasPrefix(tt.args, "--internal-keys") {
				commands = append(commands, []string{"repair", d.dir, "-o", filepath.Join(t.TempDir(), "new")})
			}
			for _, args := range commands {
				status, out, stderr := sst(append(args, strings.Fields(tt.args)...)...)
				if status != cli.ExitDamaged || !strings.Contains(stderr, "000002.ldb: "+tt.said) {
					t.Errorf("%s, missing %t: %s: status %d, want %d, and %q\n%s%s", name, isMissing, args, status, cli.ExitDamaged, tt.said, out, stderr)
				}
			}
		}
	}
}

// A table with the name of a set's manifest is still a table, and a database with a file of that name is still a
// database.
func TestFilesWithTheNameOfAManifest(t *testing.T) {
	t.Parallel()
	d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
	file := d.table(t, 1, 1, []rawEntry{{"a", 1, 1, "1"}, {"b", 2, 1, "2"}}, nil)
	d.end(t)
	contents := readFile(t, file)
	alone := &rawDatabase{dir: t.TempDir()}
	for name, path := range map[string]string{
		"a table":                            alone.write(t, "set.jsonl", contents),
		"a database with a set's manifest":   filepath.Dir(d.write(t, "set.jsonl", []byte(`{"format":"sievetable-set","version":2,"tables":0}`+"\n"))),
		"a database with a table's manifest": filepath.Dir(d.write(t, "set.jsonl", contents)),
	} {
		if status, out, stderr := sst("scan", "--versions=false", path); status != cli.ExitOK || out != "a\t1\nb\t2\n" {
			t.Errorf("%s: status %d, %q, %s", name, status, out, stderr)
		}
		mustSST(t, "verify", path)
	}
}

// A table whose size differs from the MANIFEST is read, and all keys in its range are lost. With --strict, it is an
// error, and no entry is printed.
func TestReplacedTables(t *testing.T) {
	t.Parallel()
	for _, more := range []int{-1, 1, 4, 99} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		d.table(t, 1, 1, []rawEntry{{"b", 1, 1, "1"}, {"c", 2, 1, "2"}}, nil)
		listed := d.lastTable()
		listed.Smallest, listed.Largest = internalKey("a"), internalKey("d")
		listed.Size = uint64(int(listed.Size) + more)
		d.end(t)
		for args, want := range map[string]string{"scan": "b\t1\nc\t2\n", "scan --reverse": "c\t2\nb\t1\n", "scan --strict": "", "scan --strict --reverse": ""} {
			status, out, stderr := sst(append(strings.Fields(args), d.dir)...)
			if status != cli.ExitDamaged || out != want || !strings.Contains(stderr, "000001.ldb: ") || !strings.Contains(stderr, "size is ") {
				t.Errorf("%d bytes more in the MANIFEST: sst %s: status %d, %q, %s; want %q", more, args, status, out, stderr, want)
			}
			if advice := "run: sst repair " + format.ShellPath(d.dir) + " -o NEW\n"; !strings.HasSuffix(stderr, advice) {
				t.Errorf("%d bytes more in the MANIFEST: sst %s: %s; want %s at the end", more, args, stderr, advice)
			}
			if lost := `lost the keys ≥ "a" and ≤ "d" (size is `; want != "" && !strings.Contains(stderr, lost) {
				t.Errorf("%d bytes more in the MANIFEST: sst %s: %s; want %s", more, args, stderr, lost)
			}
		}
	}
}

// In a database in reverse order, a table in another order or in none is sorted, so every command finds its keys.
func TestTablesInAnotherOrder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		size     int // of blocks
		disorder func(sorted []rawEntry)
		note     string
	}{
		"bytewise":                  {1, nil, "keys are in bytewise order, though the MANIFEST names comparator "},
		"bytewise, in one block":    {9, nil, "keys are in bytewise order, though the MANIFEST names comparator "},
		"none, in one block":        {9, swap(1, 3), "keys are not in the order of comparator "},
		"none, in several blocks":   {2, swap(1, 3), "keys are not in the order of comparator "},
		"none, in blocks of a pair": {1, swap(0, 3), "keys are not in the order of comparator "},
	} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db"), comparer: "leveldb.ReverseBytewiseComparator"}
		var entries []rawEntry
		for i, key := range []string{"a", "b", "c", "d", "e"} {
			entries = append(entries, rawEntry{key, uint64(i + 1), 1, key})
		}
		d.table(t, 1, tt.size, entries, tt.disorder)
		listed := d.lastTable()
		listed.Smallest, listed.Largest = listed.Largest, listed.Smallest
		d.end(t)
		const scanned = "e\te\nd\td\nc\tc\nb\tb\na\ta\n"
		const found = "a\ta\nb\tb\nc\tc\nd\td\ne\te\n"
		for args, want := range map[string]string{"scan": scanned, "get a b c d e": found, "get c": "c\n", "scan --reverse": found} {
			f := strings.Fields(args)
			status, out, stderr := sst(append([]string{f[0], d.dir}, f[1:]...)...)
			if diff := cmp.Diff(want, out); diff != "" || status != cli.ExitOK || strings.Count(stderr, "sst: note: ") != 1 || !strings.Contains(stderr, tt.note) {
				t.Errorf("%s: sst %s: status %d, %s (-want +got):\n%s", name, args, status, stderr, diff)
			}
		}
	}
}
