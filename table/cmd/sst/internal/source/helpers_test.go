package source

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/internal/errtest"
)

var noError = errtest.NoError

// writeTo has goleveldb write to a database, which is closed then.
func writeTo(t testing.TB, dir string, o *opt.Options, write func(db *leveldb.DB) error) {
	t.Helper()
	db, err := leveldb.OpenFile(dir, o)
	noError(t, err)
	noError(t, errors.Join(write(db), db.Close()))
}

// onlyFile returns the file of that pattern.
func onlyFile(t testing.TB, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %v, %v; want one file", pattern, files, err)
	}
	return files[0]
}
