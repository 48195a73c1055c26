package source

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/tabletest"
)

// If the order is unknown, a scan cannot continue with other tables. It ends with an error, and yields no entry
// twice.
func TestUnknownOrderInUse(t *testing.T) {
	t.Parallel()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	o := &opt.Options{WriteBuffer: 16 << 10, CompactionTableSize: 4 << 10, Comparer: tabletest.Reversed("unknown to sst")}
	writeTo(t, dir, o, func(db *leveldb.DB) (err error) {
		for i := range 8000 {
			err = errors.Join(err, db.Put(fmt.Appendf(nil, "key%06d", i), fmt.Append(nil, rng.Uint64()), nil))
		}
		return errors.Join(err, db.CompactRange(util.Range{}))
	})
	s := openSource(t, dir, Options{})
	all := 0
	for range 2 { // there are more tables than stay open, so the second time some are opened again
		all = 0
		for _, err := range s.Scan(ScanOptions{Versions: true}) {
			noError(t, err)
			all++
		}
	}
	if losses := s.Losses(KeyRange{}); all != 8000 || len(losses) > 0 || len(s.Tables) <= maxOpenTables {
		t.Errorf("%d keys in %d tables, %d losses; want 8000 keys and no loss", all, len(s.Tables), len(losses))
	}
	s = openSource(t, dir, Options{})
	seen, err := map[string]bool{}, error(nil)
	for e, failed := range s.Scan(ScanOptions{Versions: true}) {
		if err = failed; err == nil && seen[string(e.Key)] {
			t.Fatalf("key %q comes twice", e.Key)
		}
		if seen[string(e.Key)] = true; len(seen) == 500 {
			removed := s.Tables[len(s.Tables)-1]
			if err := os.Remove(removed.Path); err != nil || removed.file != nil {
				t.Fatalf("%v; of %d tables, the last is open", err, len(s.Tables))
			}
		}
	}
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "changed while it was read, and its key order is unknown") {
		t.Errorf("%d keys, then %v, want that a table was removed", len(seen), err)
	}
}

// Get and Explain list the database again if its tables were removed after it was opened.
func TestLookupsInDatabaseInUse(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	for name, get := range map[string]func(*Source, []byte) (Entry, bool, error){
		"Get": (*Source).Get,
		"Explain": func(s *Source, key []byte) (Entry, bool, error) {
			e, found, paths, err := s.Explain(key)
			if len(paths) != 1 {
				t.Errorf("%d tables are searched, want 1", len(paths))
			}
			return e, found, err
		},
	} {
		s := openSource(t, dir, Options{})
		writeTo(t, dir, nil, func(db *leveldb.DB) error {
			return errors.Join(db.Put([]byte("key000002"), []byte(name), nil), db.CompactRange(util.Range{}))
		})
		writeTo(t, dir, nil, func(*leveldb.DB) error { return nil }) // removes the compacted tables
		if e, found, err := get(s, []byte("key000002")); !found || err != nil || string(e.Value) != name {
			t.Errorf("%s: %q, %t, %v", name, e.Value, found, err)
		}
	}
}
