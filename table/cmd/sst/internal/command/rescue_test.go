package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// writeForRescue has goleveldb write a database of several tables and a log, and returns
// the path of its largest table.
func writeForRescue(t *testing.T, dir string) (largest string) {
	t.Helper()
	db, err := leveldb.OpenFile(dir, &opt.Options{WriteBuffer: 32 << 10, CompactionTableSize: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5000 {
		key := fmt.Sprintf("key%06d", i*7919%5000)
		if err := db.Put([]byte(key), []byte(strings.Repeat(key, 5)), nil); err != nil {
			t.Fatal(err)
		}
	}
	err = errors.Join(db.CompactRange(util.Range{}), db.Put([]byte("last"), []byte("in the log"), nil), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for line := range strings.Lines(mustSST(t, "verify", dir)) {
		path, _, _ := strings.Cut(line, ": ok")
		if info, err := os.Stat(path); err == nil && filepath.Ext(path) == ".ldb" && info.Size() > size {
			largest, size = path, info.Size()
		}
	}
	return largest
}

// damageHalf changes a byte in the middle of a file.
func damageHalf(t *testing.T, path string) {
	t.Helper()
	contents, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	contents[len(contents)/2] ^= 1
	if err := os.WriteFile(path, contents, 0o666); err != nil {
		t.Fatal(err)
	}
}

// entriesOf returns what goleveldb finds in a database, and closes it.
func entriesOf(db *leveldb.DB, err error) (map[string]string, error) {
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

// A database whose damaged table was replaced by what salvage wrote is rescued in the way
// that the messages describe. goleveldb reads all entries that survived, but only after its
// repair: the MANIFEST has the size of the damaged table.
func TestRescuedDatabaseIsReadByItsEngine(t *testing.T) {
	dir, rescued := t.TempDir(), filepath.Join(t.TempDir(), "rescued.ldb")
	damaged := writeForRescue(t, dir)
	damageHalf(t, damaged)
	const repair = "run the engine's repair on the copy: leveldb.RecoverFile of goleveldb, or leveldb::RepairDB of C++ LevelDB (both can bring deleted records back, and drop tables of a compression that they cannot read)"
	status, stdout, stderr := sst("salvage", damaged, "-o", rescued)
	if status != exitDamaged || !strings.Contains(stdout, damaged+": then "+repair+"\n") {
		t.Fatalf("salvage: status %d, want %d, and the repair: %s%s", status, exitDamaged, stdout, stderr)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(rescued, filepath.Join(copied, filepath.Base(damaged))); err != nil {
		t.Fatal(err)
	}
	if _, stdout, _ := sst("verify", copied); !strings.Contains(stdout, "copy the directory and "+repair+"\n") {
		t.Errorf("verify does not name the repair: %s", stdout)
	}
	want := map[string]string{}
	_, stdout, _ = sst("scan", copied)
	for line := range strings.Lines(stdout) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		want[key] = value
	}
	got, err := entriesOf(leveldb.OpenFile(copied, &opt.Options{ReadOnly: true}))
	if err == nil && maps.Equal(got, want) {
		t.Error("goleveldb reads the copy without the repair, so nothing is tested")
	}
	got, err = entriesOf(leveldb.RecoverFile(copied, nil))
	if err != nil || len(want) < 4500 || len(want) > 5000 {
		t.Fatalf("goleveldb finds %d entries of %d, %v", len(got), len(want), err)
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("goleveldb finds %q of %q, want %q", got[key], key, value)
		}
	}
	for key, value := range got { // also from a table that the MANIFEST no longer lists
		if key != "last" && value != strings.Repeat(key, 5) {
			t.Errorf("goleveldb finds %q of %q", value, key)
		}
	}
}
