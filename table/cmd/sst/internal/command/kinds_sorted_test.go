package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/layout"
)

// A key of a kind that LevelDB does not have is lost for its kind, also if a repair sorts its table: it is in its place.
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
			for _, file := range []string{"CURRENT", "MANIFEST-000000"} {
				if err := os.Remove(filepath.Join(d.dir, file)); err != nil {
					t.Fatal(err)
				}
			}
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

// Without its index, what a repair finds behind a gap in a table can be of another file. So a key of a kind that LevelDB
// does not have is left out there, and all keys behind the gap are lost.
func TestKindsBehindAGap(t *testing.T) {
	t.Parallel()
	for _, kind := range []table.Kind{2, 7, 9, 255} {
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

// layoutOf returns where the parts of a table are.
func layoutOf(t *testing.T, path string) *layout.Layout {
	t.Helper()
	f, err := dbfile.Open(path, dbfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // it was only read
	return f.Layout
}
