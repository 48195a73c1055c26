package source

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// seedDirectory makes goleveldb write a database, and returns its CURRENT, MANIFEST, log and table.
func seedDirectory(f *testing.F) (parts [4][]byte) {
	f.Helper()
	dir := f.TempDir()
	writeTo(f, dir, &opt.Options{Compression: opt.NoCompression}, func(db *leveldb.DB) (err error) {
		for _, key := range []string{"ada", "grace", "ken"} {
			err = errors.Join(err, db.Put([]byte(key), []byte("value"), nil))
		}
		return errors.Join(err, db.CompactRange(util.Range{}), db.Delete([]byte("grace"), nil))
	})
	for i, pattern := range []string{"CURRENT", "MANIFEST-*", "*.log", "*.ldb"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) == 0 {
			f.Fatal(names, err)
		}
		parts[i], err = os.ReadFile(names[len(names)-1]) // earlier ones are about to be removed
		noError(f, err)
	}
	return parts
}

// A database of arbitrary files is read to its end: a scan yields keys in order, and Get finds each of them, unless
// one of the two returns an error.
func FuzzDirectory(f *testing.F) {
	s := seedDirectory(f)
	f.Add(s[0], s[1], s[2], s[3])
	f.Add([]byte{}, []byte{}, s[2], s[3])
	f.Add(s[0], s[1], s[2][:20], []byte{})
	f.Add(s[0], append(s[1], make([]byte, 100)...), append(s[2], s[2]...), s[3])
	f.Fuzz(func(t *testing.T, current, manifest, log, sst []byte) {
		dir := filetest.WriteDir(t, map[string][]byte{"CURRENT": current, "MANIFEST-000000": manifest, "000002.log": log, "000004.ldb": sst})
		source, err := OpenSource(dir, Options{})
		if err != nil {
			return
		}
		defer source.Close() // it was only read
		shown := map[string]string{}
		for e, err := range source.Scan(ScanOptions{}) {
			if err != nil {
				return
			}
			if _, twice := shown[string(e.Key)]; twice {
				t.Fatalf("key %q is shown twice", e.Key)
			}
			shown[string(e.Key)] = string(e.Value)
		}
		for key, value := range shown {
			if e, found, err := source.Get([]byte(key)); err == nil && (!found || string(e.Value) != value) {
				t.Fatalf("Get(%q) = %q, %v; the scan shows %q", key, e.Value, found, value)
			}
		}
	})
}
