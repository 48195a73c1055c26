package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
)

// writeCounted writes a database of a log with the writes 1 to 3, whose MANIFEST counts them, as an edit of
// C++ LevelDB does that puts none of the log into tables. It returns the log.
func writeCounted(t *testing.T, dir string) (log string) {
	t.Helper()
	writeTo(t, dir, nil, func(db *leveldb.DB) (err error) {
		for _, key := range []string{"ada", "bob", "cy"} {
			err = errors.Join(err, db.Put([]byte(key), []byte("1"), nil))
		}
		return err
	})
	f, err := os.OpenFile(filepath.Join(dir, "MANIFEST-000000"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	edit := versions.Field{Kind: versions.FieldLog, Table: versions.Table{Number: 1}}.Append(nil)
	edit = versions.Field{Kind: versions.FieldSequence, Table: versions.Table{Number: 3}}.Append(edit)
	if err := errors.Join(wal.NewWriter(f).Append(edit), f.Close()); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "000001.log")
}

// Writes that the MANIFEST counts, and that no log has, are lost, whatever the end of the log looks like.
func TestWritesThatAreCountedAreMissed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		damage func(log string) error
		status int
		want   string
	}{
		{"sound", func(string) error { return nil }, 0, ""},
		{"empty", func(log string) error { return os.Truncate(log, 0) }, 3, "writes with sequence numbers < 4 may be lost"},
		{"cut in the last write", func(log string) error { return os.Truncate(log, 70) }, 3, "the write with sequence number 3 is lost"},
		{"cut behind a write", func(log string) error { return os.Truncate(log, 26) }, 3, "the writes with sequence numbers 2 to 3 are lost"},
		{"zeros", func(log string) error { return errors.Join(os.Truncate(log, 26), os.Truncate(log, 99)) }, 3, "the writes with sequence numbers 2 to 3 are lost"},
		{"missing", os.Remove, 3, "the writes in it are lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := tt.damage(writeCounted(t, filepath.Join(dir, "db"))); err != nil {
				t.Fatal(err)
			}
			db := filepath.Join(dir, "db")
			for _, args := range [][]string{{"verify", db}, {"scan", db}, {"get", db, "cy"}, {"stats", "--tables", db}} {
				status, out, stderr := sst(args...)
				if status != tt.status || !strings.Contains(out+stderr, tt.want) {
					t.Errorf("%s: status %d, %s%s; want %d and %q", args, status, out, stderr, tt.status, tt.want)
				}
			}
			status, out, stderr := sst("repair", "--certain", "--json", filepath.Join(dir, "db"), "-o", filepath.Join(dir, "new"))
			if status != tt.status || !strings.Contains(stderr, tt.want) || !strings.Contains(out, tt.want) {
				t.Errorf("status %d, %s, %s; want %d and %q", status, out, stderr, tt.status, tt.want)
			}
			if left, err := os.Stat(filepath.Join(dir, "new")); (err == nil) != (tt.status == 0) {
				t.Errorf("the new database: %v, %v", left, err)
			}
		})
	}
}

// What a transaction had written into tables when goleveldb was killed was never committed.
func TestRepairLeavesOutWhatWasNotCommitted(t *testing.T) {
	t.Parallel()
	dir, live := t.TempDir(), t.TempDir()
	db, err := leveldb.OpenFile(live, &opt.Options{WriteBuffer: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Put([]byte("ada"), []byte("1"), nil)
	tr, failed := db.OpenTransaction()
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	defer tr.Discard()
	for _, key := range []string{"ada", "bob", "cy", "dot"} {
		err = errors.Join(err, tr.Put([]byte(key), make([]byte, 1<<10), nil))
	}
	if err = errors.Join(err, os.CopyFS(filepath.Join(dir, "db"), os.DirFS(live))); err != nil {
		t.Fatal(err)
	}
	repaired := filepath.Join(dir, "new")
	status, out, stderr := sst("repair", "--certain", filepath.Join(dir, "db"), "-o", repaired)
	_, scanned, _ := sst("scan", repaired)
	if status != 0 || scanned != "ada\t1\n" || !strings.Contains(stderr, "neither lists nor marks obsolete, only for lost keys") {
		t.Errorf("status %d, %s%s; the new database has %q, want ada", status, out, stderr, scanned)
	}
}
