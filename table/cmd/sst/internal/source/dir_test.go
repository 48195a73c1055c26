package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
)

// writeDatabase makes goleveldb write a database of several tables, and delete some of its keys.
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
	// goleveldb sometimes leaves compacted tables behind. It removes them when it opens the database again.
	writeTo(t, dir, nil, func(*leveldb.DB) error { return nil })
	return dir
}

// A note names the first skipped tables, and counts the others.
func TestNoteOnSkippedTables(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	for n, want := range []string{
		"skipped 900001.ldb, which", "skipped 900001.ldb, 900002.ldb, which", "skipped 900001.ldb, 900002.ldb, 900003.ldb, which",
		"skipped 4 tables (900001.ldb, 900002.ldb, 900003.ldb, …), which",
	} {
		noError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.ldb", 900001+n)), nil, 0o666))
		if notes := strings.Join(openSource(t, dir, Options{}).Notes, "\n"); !strings.Contains(notes, want) {
			t.Errorf("%q; want %q", notes, want)
		}
	}
}

// CURRENT and MANIFEST are not read while a command writes to the directory.
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

// A file with a table's number is not read if engines do not write its name.
func TestStrayFile(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	want, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	noError(t, err)
	stray := "0" + filepath.Base(want.Tables[0].Path)
	noError(t, os.WriteFile(filepath.Join(dir, stray), nil, 0o666))
	got, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	noError(t, err)
	if notes := strings.Join(got.Notes, "\n"); got.Tables[0].Path != want.Tables[0].Path || !strings.Contains(notes, "skipped "+stray) {
		t.Errorf("%s is read, and the notes are %q; want %s, and a note of %s", got.Tables[0].Path, notes, want.Tables[0].Path, stray)
	}
}

// A listed table is damaged if anything else is in its place, even if it is opened by its own name.
func TestListedIsNotForeign(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	noError(t, err)
	damaged := d.Tables[0].Path
	for _, contents := range []string{"", "text\n", "\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3"} {
		noError(t, os.WriteFile(damaged, []byte(contents), 0o666))
		if _, err := dbfile.Open(damaged, dbfile.Options{}); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), damaged) {
			t.Errorf("with %q for a table: %v, want damage of %s", contents, err, damaged)
		}
	}
	removeManifest(t, dir)
	if _, err := OpenSource(dir, Options{}); err == nil || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "a Pebble table") {
		t.Errorf("without MANIFEST: %v, want what the file is", err)
	}
}
