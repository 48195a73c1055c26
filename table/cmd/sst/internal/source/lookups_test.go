package source

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/database"
)

// writeRandomDatabase writes a database with more tables than a scan keeps open, with versions and deletions in
// several levels and in the log. It returns the contents.
func writeRandomDatabase(t *testing.T, dir string, rng *rand.Rand) map[string]string {
	t.Helper()
	has := map[string]string{}
	writeTo(t, dir, &opt.Options{WriteBuffer: 16 << 10, CompactionTableSize: 2 << 10}, func(db *leveldb.DB) (err error) {
		const writes = 10_000
		for i := range writes {
			key, value := fmt.Sprintf("key%05d", 2*rng.IntN(4000)), fmt.Sprintf("%d %x%x%x", i, rng.Uint64(), rng.Uint64(), rng.Uint64())
			if rng.IntN(4) == 0 {
				delete(has, key)
				err = errors.Join(err, db.Delete([]byte(key), nil))
			} else {
				has[key] = value
				err = errors.Join(err, db.Put([]byte(key), []byte(value), nil))
			}
			if i == writes/2 {
				err = errors.Join(err, db.CompactRange(util.Range{}))
			}
		}
		return err
	})
	return has
}

// Lookups in a database return the library's results, for present, absent and deleted keys in any order. They open
// each table once.
func TestManyLookups(t *testing.T) {
	t.Parallel()
	for seed := range uint64(long.Rounds(1, 20)) {
		dir, rng := t.TempDir(), rand.New(rand.NewPCG(seed, 70))
		has := writeRandomDatabase(t, dir, rng)
		library, err := database.Open(dir, nil)
		noError(t, err)
		defer library.Close()
		var keys []string
		for i := range 5010 { // odd numbers are absent
			keys = append(keys, fmt.Sprintf("key%05d", i), fmt.Sprintf("key%05d", rng.IntN(8000)))
		}
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for _, lookups := range []bool{true, false} {
			var opened []*offsets
			s := openSource(t, dir, recorded(&opened, lookups))
			if len(s.Tables) <= maxOpenTables {
				t.Fatalf("%d tables, want more", len(s.Tables))
			}
			some := keys
			if !lookups {
				some = keys[:1000]
			}
			checkLookups(t, s, some, func(key string) (string, bool) {
				value, err := library.Get([]byte(key))
				if err != nil && !errors.Is(err, table.ErrNotFound) {
					t.Fatal(err)
				}
				return string(value), err == nil
			})
			if lookups && len(opened) > len(s.Tables) {
				t.Errorf("seed %d: %d lookups opened a table %d times, want at most once each of %d", seed, len(keys), len(opened), len(s.Tables))
			}
		}
		removeObsolete(t, dir, library) // they have deleted keys, and count without a MANIFEST
		removeManifest(t, dir)
		var opened []*offsets
		s := openSource(t, dir, recorded(&opened, true))
		checkLookups(t, s, keys[:2000], func(key string) (string, bool) {
			value, ok := has[key]
			return value, ok
		})
		if len(opened) > len(s.Tables) {
			t.Errorf("seed %d, without a MANIFEST: a table was opened %d times, want at most once each of %d", seed, len(opened), len(s.Tables))
		}
	}
}

// removeObsolete removes the unlisted tables of the directory, which goleveldb may leave when it is closed.
func removeObsolete(t *testing.T, dir string, db *database.DB) {
	t.Helper()
	listed := map[string]bool{}
	for _, l := range db.Tables() {
		listed[l.Name] = true
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	for _, path := range tables {
		if !listed[filepath.Base(path)] {
			err = errors.Join(err, os.Remove(path))
		}
	}
	noError(t, err)
}

func openSource(t *testing.T, dir string, o Options) *Source {
	t.Helper()
	s, err := OpenSource(dir, o)
	noError(t, err)
	t.Cleanup(func() { s.Close() }) // it was only read
	return s
}

func checkLookups(t *testing.T, s *Source, keys []string, want func(key string) (value string, found bool)) {
	t.Helper()
	var all [][]byte
	for _, key := range keys {
		all = append(all, []byte(key))
	}
	noError(t, s.PrefetchLogs(all...))
	for _, key := range keys {
		e, found, err := s.Get([]byte(key))
		value, ok := want(key)
		if err != nil || found != ok || found && string(e.Value) != value {
			t.Fatalf("Get of %s: %q, %v, %v; want %q, %v", key, e.Value, found, err, value, ok)
		}
	}
}

// If a table is opened again, its form is not detected by reading keys again.
func TestFormIsDetectedOnce(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	removeManifest(t, dir)
	var opened []*offsets
	s := openSource(t, dir, recorded(&opened, false))
	first := s.Tables[0]
	want := *first.form
	f, err := s.openChecked(first)
	noError(t, err)
	defer f.Close()
	read := 0
	for _, part := range f.Layout.Data {
		read += opened[len(opened)-1].reads[part.Offset]
	}
	if read > 0 {
		t.Errorf("%d of %d data blocks were read again", read, len(f.Layout.Data))
	}
	sameOrder := cmp.Comparer(func(a, b table.Comparer) bool { return a == b })
	if diff := cmp.Diff(want, f.Form, cmp.AllowUnexported(dbfile.Form{}), sameOrder); diff != "" {
		t.Errorf("(-detected +known):\n%s", diff)
	}
	if !want.Internal || want.Order != table.BytewiseComparer || want.FileSize != f.Size {
		t.Errorf("detected %+v of a table of %d bytes, want internal keys in bytewise order", want, f.Size)
	}
}

// removeManifest makes the levels of a database unknown.
func removeManifest(t *testing.T, dir string) {
	t.Helper()
	noError(t, errors.Join(os.Remove(filepath.Join(dir, "CURRENT")), os.Remove(onlyFile(t, filepath.Join(dir, "MANIFEST-*")))))
}
