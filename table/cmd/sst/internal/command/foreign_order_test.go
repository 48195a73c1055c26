package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// In a database of the reverse order, a table in another order or in none is sorted: every command finds its keys.
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
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		var entries []rawEntry
		for i, key := range []string{"a", "b", "c", "d", "e"} {
			entries = append(entries, rawEntry{key, uint64(i + 1), 1, key})
		}
		file := d.table(t, 1, tt.size, entries, tt.disorder)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		key := func(e rawEntry) []byte { return []byte(e.internal()) }
		d.tables = versions.Field{Kind: versions.FieldAdd, Table: versions.Table{Level: 1, Number: 1, Size: uint64(info.Size()), Smallest: key(entries[4]), Largest: key(entries[0])}}.Append(nil)
		f, err := os.Create(d.write(t, "MANIFEST-000000", nil))
		if err == nil {
			err = errors.Join(versions.WriteManifest(f, versions.Header{Comparer: "leveldb.ReverseBytewiseComparator", NextFile: 2, LastSequence: 5}, d.tables), f.Close())
		}
		if d.write(t, "CURRENT", []byte("MANIFEST-000000\n")); err != nil {
			t.Fatal(err)
		}
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
