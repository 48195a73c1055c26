package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"

	"github.com/sievetable/sievetable/internal/versions"
)

// writeCounted writes a database with the writes 1 to 3 in a log. Its MANIFEST counts them, like an edit by C++
// LevelDB that moves none of the log into tables. It returns the path of the log.
func writeCounted(t *testing.T, dir string) (log string) {
	t.Helper()
	writeTo(t, dir, nil, func(db *leveldb.DB) (err error) {
		for _, key := range []string{"ada", "bob", "cy"} {
			err = errors.Join(err, db.Put([]byte(key), []byte("1"), nil))
		}
		return err
	})
	edit := versions.Field{Kind: versions.FieldLog, Table: versions.Table{Number: 1}}.Append(nil)
	edit = versions.Field{Kind: versions.FieldSequence, Table: versions.Table{Number: 3}}.Append(edit)
	(&rawDatabase{dir: dir}).addEdits(t, edit)
	return filepath.Join(dir, "000001.log")
}

// Writes that the MANIFEST counts and no log has are lost, whatever the end of the log looks like.
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
			db := filepath.Join(dir, "db")
			noError(t, tt.damage(writeCounted(t, db)))
			for _, args := range [][]string{{"verify", db}, {"scan", db}, {"get", db, "cy"}, {"stats", "--tables", db}} {
				status, out, stderr := sst(args...)
				if status != tt.status || !strings.Contains(out+stderr, tt.want) {
					t.Errorf("%s: status %d, %s%s; want %d and %q", args, status, out, stderr, tt.status, tt.want)
				}
			}
			status, out, stderr := sst("repair", "--certain", "--json", db, "-o", filepath.Join(dir, "new"))
			if status != tt.status || !strings.Contains(stderr, tt.want) || !strings.Contains(out, tt.want) {
				t.Errorf("status %d, %s, %s; want %d and %q", status, out, stderr, tt.status, tt.want)
			}
			if left, err := os.Stat(filepath.Join(dir, "new")); (err == nil) != (tt.status == 0) {
				t.Errorf("the new database: %v, %v", left, err)
			}
		})
	}
}
