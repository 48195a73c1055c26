package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
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

// If another database takes the directory's name, its tables do not count as damaged ones of the first.
func TestReplacedTargets(t *testing.T) {
	t.Parallel()
	dir := writeSmall(t)
	p := &pass{out: io.Discard, stderr: io.Discard}
	targets := p.targets([]string{dir}, true)
	noError(t, os.Rename(dir, dir+" aside"))
	noError(t, os.CopyFS(dir, os.DirFS(dir+" aside")))
	for _, f := range targets {
		if f.kind == isTable {
			noError(t, os.WriteFile(f.Path, []byte("another table"), 0o666))
		}
	}
	v := verifier{pass: p, add: func(int64) {}}
	err := v.verify(targets)
	if err == nil || v.found.damaged > 0 || cli.StatusOf(err) != cli.ExitUsage {
		t.Errorf("verify: %d files are damaged: %v", v.found.damaged, err)
	}
	err = p.eachFile(targets[:1], func(f target) error {
		_, err := f.open(source.Options{})
		return err
	})
	if err == nil || cli.StatusOf(err) != cli.ExitUsage {
		t.Errorf("each file: %v, want an error that is not damage", err)
	}
}
