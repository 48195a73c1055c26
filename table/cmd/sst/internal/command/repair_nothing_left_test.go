package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// If nothing can be read of a table, a repair names all of its keys as lost, and keeps none of their older versions with
// --certain.
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
		err := os.Remove(file)
		if err == nil && contents != nil {
			err = os.WriteFile(file, contents, 0o666)
		}
		if err != nil {
			t.Fatal(err)
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
