package source

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
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

// A scan of a database that goleveldb writes to and compacts meanwhile yields each key once, in order, with a value of
// that key, and each source notes at most once that files have changed.
func TestDatabaseInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := leveldb.OpenFile(dir, &opt.Options{WriteBuffer: 16 << 10, CompactionTableSize: 8 << 10, BlockCacheCapacity: -1})
	noError(t, err)
	defer db.Close() // it is as it was left, or the test failed
	const n = 3000
	put := func(round int) {
		for i := range n {
			value := fmt.Appendf(nil, "%06d in round %d", i, round)
			if i%2 == 0 { // what does not change
				value = fmt.Appendf(nil, "%06d", i)
			}
			noError(t, db.Put(fmt.Appendf(nil, "key%06d", i), value, nil))
		}
	}
	put(0)
	changed := 0
	for round := 1; round < 4; round++ {
		for _, reverse := range []bool{false, true} {
			notes := map[string]int{}
			s, err := OpenSource(dir, Options{Note: func(note string) { notes[note]++ }})
			noError(t, err)
			seen, last := 0, []byte(nil)
			for e, err := range s.Scan(ScanOptions{Reverse: reverse}) {
				noError(t, err)
				if last != nil && (bytes.Compare(e.Key, last) > 0) == reverse {
					t.Fatalf("key %q after %q", e.Key, last)
				}
				if last = bytes.Clone(e.Key); !strings.HasPrefix(string(e.Value), string(e.Key[3:])) {
					t.Fatalf("%q has %q", e.Key, e.Value)
				}
				if seen++; seen == 500 || seen == 1500 { // all tables there were are gone after this
					put(round)
					noError(t, db.CompactRange(util.Range{}))
				}
			}
			for note, times := range notes {
				if changed++; times > 1 {
					t.Errorf("%q comes %d times", note, times)
				}
			}
			if seen != n {
				t.Errorf("%d entries, want %d", seen, n)
			}
			if _, found, err := s.Get([]byte("key000002")); !found || err != nil {
				t.Errorf("Get = %v, %v", found, err)
			}
			if err := errors.Join(s.Damage, s.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	if changed == 0 {
		t.Error("no note that the database is in use")
	}
}

// Get and Explain list the database again if its tables were removed after it was opened, and note what is new.
func TestLookupsInDatabaseInUse(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	unlisted := filepath.Join(dir, "999999.ldb")
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
		var notes []string
		s := openSource(t, dir, Options{Note: func(note string) { notes = append(notes, note) }})
		writeTo(t, dir, nil, func(db *leveldb.DB) error {
			return errors.Join(db.Put([]byte("key000002"), []byte(name), nil), db.CompactRange(util.Range{}))
		})
		writeTo(t, dir, nil, func(*leveldb.DB) error { return nil }) // removes the compacted tables
		noError(t, os.WriteFile(unlisted, nil, 0o600))
		if e, found, err := get(s, []byte("key000002")); !found || err != nil || string(e.Value) != name {
			t.Errorf("%s: %q, %t, %v", name, e.Value, found, err)
		}
		if len(notes) != 2 || !strings.Contains(notes[1], "skipped 999999.ldb") {
			t.Errorf("%s: notes %q, want the second of 999999.ldb", name, notes)
		}
		noError(t, os.Remove(unlisted))
	}
}

// A removing Comparer removes a file as soon as it compares keys.
type removing struct {
	table.Comparer
	path string
}

func (r removing) Compare(a, b []byte) int {
	os.Remove(r.path)
	return r.Comparer.Compare(a, b)
}

// If a table is removed while a directory is opened, the directory is listed again.
func TestTableRemovedDuringOpen(t *testing.T) {
	t.Parallel()
	dir := filetest.WriteDir(t, map[string][]byte{
		"000001.ldb": tabletest.Build(t, nil, tabletest.PairsOf("a", "b")),
		"000002.ldb": tabletest.Build(t, nil, tabletest.PairsOf("a", "c")),
	})
	var o Options
	o.Order = dbfile.ExplicitOrder(removing{table.BytewiseComparer, filepath.Join(dir, "000001.ldb")})
	if s := openSource(t, dir, o); len(s.Tables) != 1 {
		t.Errorf("%d tables, want 1", len(s.Tables))
	}
}
