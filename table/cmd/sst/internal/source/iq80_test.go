package source

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// writeIQ80 writes a database as iq80's Java LevelDB leaves one after a compaction: with one table, whose size in
// the MANIFEST is 4 bytes too large. first becomes its first key in the MANIFEST.
func writeIQ80(t *testing.T, first string) (dir, path string) {
	t.Helper()
	var pairs []workload.Pair
	for i := range 100 {
		pairs = append(pairs, workload.Pair{Key: []byte(internal(fmt.Sprintf("key%03d", i), 7)), Value: []byte("value")})
	}
	contents := tabletest.Build(t, &table.WriterOptions{Comparer: table.InternalComparer(table.BytewiseComparer)}, pairs)
	smallest := append([]byte(first), pairs[0].Key[len(first):]...)
	listed := versions.Table{Level: 2, Number: 5, Size: uint64(len(contents) + 4), Smallest: smallest, Largest: pairs[len(pairs)-1].Key}
	header := versions.Header{Comparer: table.BytewiseComparer.Name(), NextFile: 6, LastSequence: 7}
	var manifest bytes.Buffer
	noError(t, versions.WriteManifest(&manifest, header, versions.Field{Kind: versions.FieldAdd, Table: listed}.Append(nil)))
	dir = filetest.WriteDir(t, map[string][]byte{"000005.ldb": contents, "CURRENT": []byte("MANIFEST-000002\n"), "MANIFEST-000002": manifest.Bytes(), "000003.log": nil})
	return dir, filepath.Join(dir, "000005.ldb")
}

// An iq80 table is accepted though its size differs from the MANIFEST's, which other engines do not accept. With
// another first key it is another table.
func TestTableOfIQ80(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		first string
		whole bool
	}{{"key000", true}, {"aaa000", false}} {
		dir, path := writeIQ80(t, tt.first)
		var notes []string
		s := openSource(t, dir, Options{Note: func(note string) { notes = append(notes, note) }})
		n := len(pairsOf(t, s))
		const says = "bytes too many)"
		noted, lost := strings.Contains(fmt.Sprint(notes), path+": size is "), fmt.Sprint(s.Losses(KeyRange{}))
		if n != 100 || noted != tt.whole || strings.Contains(lost, says) == tt.whole {
			t.Errorf("first key %s: %d entries, notes %q, losses %v", tt.first, n, notes, lost)
		}
		if verified := verifyTable(t, dir); !strings.Contains(verified, says+", so other engines cannot read this table") {
			t.Errorf("first key %s: verify says %s", tt.first, verified)
		}
		db, err := leveldb.OpenFile(dir, nil)
		if err == nil {
			_, err = db.Get([]byte("key050"), nil)
			db.Close() // nothing was written
		}
		if err == nil || err == leveldb.ErrNotFound {
			t.Errorf("first key %s: goleveldb reads the table: %v", tt.first, err)
		}
	}
}

// verifyTable returns the result of CheckManifest for the only table of a database.
func verifyTable(t *testing.T, dir string) string {
	t.Helper()
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	if err != nil || len(d.Tables) != 1 {
		t.Fatal(d.Tables, err)
	}
	f, err := d.Tables[0].Open(dbdir.ListOptions{})
	noError(t, err)
	defer f.Close() // it was only read
	keys, _, err := f.Verify(nil)
	noError(t, err)
	return fmt.Sprint(f.CheckManifest(d.Version, d.Tables[0].Meta, keys))
}
