// Package filetest writes the files that tests of several packages read.
package filetest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/journal"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table"
)

// Log returns a log of the records, written by goleveldb.
func Log(t *testing.T, records ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := journal.NewWriter(&out)
	for _, r := range records {
		record, err := w.Next()
		if err == nil {
			_, err = record.Write([]byte(r))
		}
		errtest.NoError(t, err)
	}
	errtest.NoError(t, w.Close())
	return out.Bytes()
}

// WriteDir writes files in a directory of their own, and returns its path.
func WriteDir[T string | []byte](t testing.TB, files map[string]T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, contents := range files {
		errtest.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(contents), 0o666))
	}
	return dir
}

// Write writes a file in a directory of its own, and returns its path.
func Write(t testing.TB, name string, contents []byte) (path string) {
	t.Helper()
	return filepath.Join(WriteDir(t, map[string][]byte{name: contents}), name)
}

// WriteDatabase opens a database with goleveldb, calls write, and closes it.
func WriteDatabase(t testing.TB, dir string, o *opt.Options, write func(db *leveldb.DB) error) {
	t.Helper()
	db, err := leveldb.OpenFile(dir, o)
	if err == nil {
		err = errors.Join(write(db), db.Close())
	}
	errtest.NoError(t, err)
}

// EntriesOf returns the entries that goleveldb finds in a database, and closes it.
func EntriesOf(db *leveldb.DB, err error) (map[string]string, error) {
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	it := db.NewIterator(nil, nil)
	for it.Next() {
		found[string(it.Key())] = string(it.Value())
	}
	it.Release()
	return found, errors.Join(it.Error(), db.Close())
}

// OnlyFile returns the only file that matches pattern.
func OnlyFile(t testing.TB, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %v, %v, not one file", pattern, files, err)
	}
	return filepath.ToSlash(files[0])
}

// Flip changes a bit of a file, in the byte at an offset.
func Flip(t testing.TB, path string, at int64) {
	t.Helper()
	contents, err := os.ReadFile(path)
	errtest.NoError(t, err)
	contents[at] ^= 1
	errtest.NoError(t, os.WriteFile(path, contents, 0o666))
}

// Deletion returns a batch that deletes a key.
func Deletion(sequence byte) string {
	return string(sequence) + "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01a"
}

// WriteTable writes a table whose values equal their keys.
func WriteTable(t *testing.T, path string, o table.WriterOptions, keys ...string) {
	t.Helper()
	w, err := table.Create(path, &o)
	errtest.NoError(t, err)
	for _, key := range keys {
		err = errors.Join(err, w.Append([]byte(key), []byte(key)))
	}
	errtest.NoError(t, errors.Join(err, w.Close()))
}

// FoldingComparer ignores case.
type FoldingComparer struct{ table.Comparer }

func (FoldingComparer) Compare(a, b []byte) int {
	return bytes.Compare(bytes.ToLower(a), bytes.ToLower(b))
}

func (FoldingComparer) Separator(_, _, _ []byte) []byte { return nil }
func (FoldingComparer) Successor(_, _ []byte) []byte    { return nil }

// MayContain is like r.MayContain, but returns true after an error.
func MayContain(r *table.Reader, key []byte) bool {
	may, err := r.MayContain(key)
	return may || err != nil
}
