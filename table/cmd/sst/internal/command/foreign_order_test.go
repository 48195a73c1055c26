package command

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
