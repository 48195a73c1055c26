package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
)

// writeDatabase has goleveldb write a database of several tables, and delete some of
// its keys.
func writeDatabase(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	writeTo(t, dir, &opt.Options{WriteBuffer: 32 << 10, CompactionTableSize: 32 << 10}, func(db *leveldb.DB) (err error) {
		for i := range 5000 {
			key := fmt.Appendf(nil, "key%06d", i*7919%5000)
			err = errors.Join(err, db.Put(key, key, nil))
			if i%3 == 0 {
				err = errors.Join(err, db.Delete(key, nil))
			}
		}
		return errors.Join(err, db.CompactRange(util.Range{}))
	})
	// Now and then goleveldb leaves tables behind that it has compacted. When it opens the
	// database again, it removes them.
	writeTo(t, dir, nil, func(*leveldb.DB) error { return nil })
	return dir
}

// scanned counts the entries of a directory.
func scanned(dir string, o Options) (n int, notes string, err error) {
	s, err := OpenSource(dir, o)
	if err != nil {
		return 0, "", err
	}
	defer s.Close()
	for _, err := range s.Scan(ScanOptions{}) {
		if err != nil {
			return n, "", err
		}
		n++
	}
	damage := []error{s.Damage, s.LogDamage()}
	for _, l := range s.Losses(KeyRange{}) {
		damage = append(damage, l.InFile())
	}
	return n, strings.Join(s.Notes, "\n"), errors.Join(damage...)
}

// A note names a few tables that are skipped, and says how many there are.
func TestNoteOnSkippedTables(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	for n, want := range []string{
		"skipped 900001.ldb, which", "skipped 900001.ldb, 900002.ldb, which", "skipped 900001.ldb, 900002.ldb, 900003.ldb, which",
		"skipped 4 tables (900001.ldb, 900002.ldb, 900003.ldb, …), which",
	} {
		noError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.ldb", 900001+n)), nil, 0o666))
		if _, notes, err := scanned(dir, Options{}); err != nil || !strings.Contains(notes, want) {
			t.Errorf("%q, %v; want %q", notes, err, want)
		}
	}
}

// Tables that the database does not list are left out: one that a compaction left over
// has deleted keys, one that it did not finish is no table. One that it lists and lacks
// is damage, and if it does not say what it lists all tables are taken.
func TestOnlyListedTables(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	const want = 5000 - 1667
	if n, _, err := scanned(dir, Options{}); n != want || err != nil {
		t.Fatalf("%d entries, %v; want %d", n, err, want)
	}
	old := internal("key000001.5", 1)
	filetest.WriteTable(t, filepath.Join(dir, "900000.ldb"), table.WriterOptions{Comparer: table.InternalComparer(table.BytewiseComparer)}, old)
	n, notes, err := scanned(dir, Options{})
	if n != want || err != nil || !strings.Contains(notes, "which the MANIFEST does not list") || !strings.Contains(notes, "900000.ldb") {
		t.Errorf("with an old table: %d entries, %q, %v; want %d", n, notes, err, want)
	}
	if n, _, err := scanned(dir, Options{ListOptions: dbdir.ListOptions{AllTables: true}}); n <= want || err != nil {
		t.Errorf("all tables: %d entries, %v; want over %d", n, err, want)
	}
	noError(t, os.WriteFile(filepath.Join(dir, "999999.ldb"), []byte("not finished"), 0o666))
	if n, _, err := scanned(dir, Options{}); n != want || err != nil {
		t.Errorf("with an unfinished table: %d entries, %v; want %d", n, err, want)
	}
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	noError(t, err)
	noError(t, os.Remove(d.Tables[0].Path))
	if _, _, err := scanned(dir, Options{}); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "missing, listed in MANIFEST-") {
		t.Errorf("without a table: %v", err)
	}
	noError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("?"), 0o666))
	if d, err := dbdir.ListDir(dir, dbdir.ListOptions{}); err != nil || d.Version == nil || len(d.Damage) == 0 {
		t.Errorf("without CURRENT: %v, %v; want the tables of the MANIFEST, and damage", d, err)
	}
	noError(t, os.Truncate(onlyFile(t, filepath.Join(dir, "MANIFEST-*")), 0))
	if d, err := dbdir.ListDir(dir, dbdir.ListOptions{}); err != nil || len(d.Tables) < 3 || len(d.Damage) == 0 || d.Version != nil {
		t.Errorf("without MANIFEST: %v, %v; want all tables, and damage", d, err)
	}
}

// What says which tables a database has is not read while a command writes to it.
func TestListDirReadsNoOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"CURRENT", "MANIFEST-000001", "notes"} {
		path := filepath.Join(dir, name)
		noError(t, os.WriteFile(path, nil, 0o666))
		_, err := dbdir.ListDir(dir, dbdir.ListOptions{Options: dbfile.Options{Outputs: output.FilesOf(nil, path)}})
		if refused := strings.Contains(fmt.Sprint(err), "input and output are the same file"); refused != (name != "notes") {
			t.Errorf("output to %s: %v", name, err)
		}
	}
}

// What engines do not read is not read: a file of the same number under another name, and what
// is behind a table's end.
func TestStrayFiles(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	want, _, err := scanned(dir, Options{})
	noError(t, err)
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	noError(t, err)
	listed := d.Tables[0].Path
	stray := filepath.Join(dir, "0"+filepath.Base(listed))
	filetest.WriteTable(t, stray, table.WriterOptions{Comparer: table.InternalComparer(table.BytewiseComparer)}, internal("stray", 1))
	f, err := os.OpenFile(listed, os.O_APPEND|os.O_WRONLY, 0)
	noError(t, err)
	_, err = f.Write(make([]byte, 100))
	noError(t, errors.Join(err, f.Close()))
	n, notes, err := scanned(dir, Options{})
	if n != want || err != nil || !strings.Contains(notes, "skipped "+filepath.Base(stray)) {
		t.Errorf("%d entries, %q, %v; want %d, and a note of the stray file", n, notes, err, want)
	}
}
