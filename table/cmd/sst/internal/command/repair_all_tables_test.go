package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/versions"
)

// With --all-tables, a repair reads logs and tables that are obsolete or not listed. None of their entries is certain,
// as --certain asks.
func TestRepairOfAllTablesIsCertainOfListed(t *testing.T) {
	t.Parallel()
	d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
	d.table(t, 1, 1, []rawEntry{{"listed", 1, 1, "1"}}, nil)
	listed := d.tables
	d.table(t, 1, 1, []rawEntry{{"unlisted", 2, 1, "2"}}, nil)
	d.tables = listed
	d.log(t, []rawEntry{{"obsolete", 3, 1, "3"}})
	d.log(t, []rawEntry{{"live", 4, 1, "4"}})
	d.tables = versions.Field{Kind: versions.FieldLog, Table: versions.Table{Number: d.number}}.Append(d.tables)
	d.last = 3
	d.end(t)
	for _, tt := range []struct {
		want string
		args []string
	}{
		{"listed live", []string{"--certain"}},
		{"listed live obsolete unlisted", []string{"--all-tables"}},
		{"listed live", []string{"--certain", "--all-tables"}},
	} {
		repaired := filepath.Join(t.TempDir(), "new")
		status, out, stderr := sst(append([]string{"repair", d.dir, "-o", repaired}, tt.args...)...)
		_, got, _ := sst("scan", "--keys", repaired)
		if diff := cmp.Diff(strings.Fields(tt.want), strings.Fields(got)); diff != "" {
			t.Errorf("sst repair %q: status %d (-want +got):\n%s\n%s%s", tt.args, status, diff, out, stderr)
		}
	}
}

// If the number in the name of the MANIFEST is none, a repair cannot know which tables are obsolete: it reads those that
// the MANIFEST lists, and says so.
func TestRepairOfMANIFESTWithoutNumber(t *testing.T) {
	t.Parallel()
	d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
	d.table(t, 1, 1, []rawEntry{{"listed", 1, 1, "1"}}, nil)
	listed := d.tables
	d.table(t, 1, 1, []rawEntry{{"unlisted", 2, 1, "2"}}, nil)
	d.tables = listed
	d.end(t)
	const name = "MANIFEST-99999999999999999999"
	if err := os.Rename(filepath.Join(d.dir, "MANIFEST-000000"), filepath.Join(d.dir, name)); err != nil {
		t.Fatal(err)
	}
	d.write(t, "CURRENT", []byte(name+"\n"))
	status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
	if got := mustSST(t, "scan", d.dir+".new"); got != "listed\t1\n" || !strings.Contains(stderr, "tables that it does not list are skipped") {
		t.Errorf("sst repair: status %d, %q\n%s%s", status, got, out, stderr)
	}
}
