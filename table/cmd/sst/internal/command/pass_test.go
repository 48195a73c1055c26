package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// If many tables are removed at once, the directory is listed again for the first of them only: a listing reads the
// whole MANIFEST.
func TestManyTablesRemovedAtOnce(t *testing.T) {
	t.Parallel()
	dir := writeSmall(t)
	p := &pass{out: io.Discard, stderr: io.Discard}
	old := p.targets([]string{dir}, false)
	writeTo(t, dir, nil, func(db *leveldb.DB) error {
		return errors.Join(db.Put([]byte("b"), nil, nil), db.Put([]byte("u"), nil, nil), db.CompactRange(util.Range{}))
	})
	writeTo(t, dir, nil, func(*leveldb.DB) error { return nil }) // removes what is obsolete
	removed := 0
	for _, f := range old {
		_, err := f.open(source.Options{})
		if !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if !f.wasRemoved(err, source.Options{}) {
			t.Errorf("%s does not count as removed: %v", f.Path, err)
		}
		removed++
		noError(t, os.RemoveAll(dir)) // a second listing would fail
	}
	if removed < 2 {
		t.Errorf("%d tables were removed, want at least 2", removed)
	}
}
