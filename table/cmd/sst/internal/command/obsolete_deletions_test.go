package command

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// A damaged MANIFEST has lost the edit that calls the table of an old value obsolete. Its sound edits call the table of
// the deletion obsolete, which a compaction has dropped since. The value stays deleted, and the values of an obsolete
// table do not come back, whether that is sound or damaged itself.
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
		manifest := d.write(t, "MANIFEST-000000", d.editsThatLose(t, versions.Table{Level: 1, Number: 2}))
		flipAt(t, manifest, input.TotalSize([]string{manifest})-3)
		status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
		if status != cli.ExitDamaged || !strings.Contains(stderr, "000002.ldb, which MANIFEST-000000 marks obsolete, but not the deletions there") {
			t.Errorf("status %d, %s%s", status, out, stderr)
		}
		if diff := cmp.Diff("kept\t2\nlive\t8\n", mustSST(t, "scan", d.dir+".new")); diff != "" {
			t.Errorf("damaged %t (-want +got):\n%s", isDamaged, diff)
		}
	}
}

// editsThatLose returns a MANIFEST: an edit of all tables, one that deletes a table, and one that is to be damaged.
func (d *rawDatabase) editsThatLose(t *testing.T, deleted versions.Table) []byte {
	t.Helper()
	first := versions.Field{Kind: versions.FieldComparer, Key: []byte(table.BytewiseComparer.Name())}.Append(nil)
	for _, f := range []versions.Field{{Kind: versions.FieldLog}, {Kind: versions.FieldNextFile, Table: versions.Table{Number: 9}}, {Kind: versions.FieldSequence, Table: versions.Table{Number: d.last}}} {
		first = f.Append(first)
	}
	first = append(first, d.tables...)
	second := versions.Field{Kind: versions.FieldDelete, Table: deleted}.Append(nil)
	var manifest bytes.Buffer
	w := wal.NewWriter(&manifest)
	for _, edit := range [][]byte{first, second, bytes.Repeat([]byte{byte(versions.FieldLog), 1}, 10)} {
		if err := w.Append(edit); err != nil {
			t.Fatal(err)
		}
	}
	return manifest.Bytes()
}
