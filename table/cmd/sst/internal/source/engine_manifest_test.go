package source_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
)

// live has goleveldb write a database with compactions behind it, and returns the
// tables that it says it has.
func live(t *testing.T, dir string) map[uint64]bool {
	t.Helper()
	db, err := leveldb.OpenFile(dir, &opt.Options{WriteBuffer: 32 << 10, CompactionTableSize: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		if err := db.Put(fmt.Appendf(nil, "key%06d", i*7919%20_000), make([]byte, 20), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CompactRange(util.Range{}); err != nil {
		t.Fatal(err)
	}
	listed, err := db.GetProperty("leveldb.sstables")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	tables := map[uint64]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\d+):`).FindAllStringSubmatch(listed, -1) {
		n, err := strconv.ParseUint(m[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		tables[n] = true
	}
	return tables
}

func TestReadFindsGoleveldbsTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := live(t, dir)
	v, err := versions.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, numbers(v)); diff != "" || len(want) < 3 {
		t.Errorf("%d tables (-goleveldb +read):\n%s", len(want), diff)
	}
	if v.Comparer != "leveldb.BytewiseComparator" || namedLogs(v) == nil {
		t.Errorf("comparer %q, logs %v", v.Comparer, namedLogs(v))
	}
}

// numbers returns the numbers of the tables.
func numbers(v *versions.Version) map[uint64]bool {
	tables := map[uint64]bool{}
	for _, t := range v.Tables {
		tables[t.Number] = true
	}
	return tables
}

// What is said of the tables is so: first and last key, and the newest of a level comes first.
func TestTablesOfTheManifestAreThoseOfTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	live(t, dir)
	v, err := versions.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	order := table.InternalComparer(table.BytewiseComparer)
	for i, m := range v.Tables {
		r, err := table.Open(filepath.Join(dir, fmt.Sprintf("%06d.ldb", m.Number)), &table.ReaderOptions{Comparer: order, FilterKey: table.InternalFilterKey})
		if err != nil {
			t.Fatal(err)
		}
		it := r.NewIter(nil)
		if it.First(); !bytes.Equal(it.Key(), m.Smallest) {
			t.Errorf("table %d: first key %q, want %q", m.Number, m.Smallest, it.Key())
		}
		if it.Last(); !bytes.Equal(it.Key(), m.Largest) {
			t.Errorf("table %d: last key %q, want %q", m.Number, m.Largest, it.Key())
		}
		if err := errors.Join(it.Close(), r.Close()); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue
		}
		if before := v.Tables[i-1]; m.Level < before.Level || m.Level == before.Level && m.Number >= before.Number {
			t.Errorf("table %d of level %d comes after table %d of level %d", m.Number, m.Level, before.Number, before.Level)
		}
	}
	if v.LastSequence == 0 {
		t.Error("no last sequence number")
	}
}

// manifest returns the path of the database's MANIFEST.
func manifest(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v; want one MANIFEST", names, err)
	}
	return names[0]
}

// Damage is an error; but an edit that was being written when the database died does
// not count, and Torn says so.
func TestReadOfADamagedManifest(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		do     func(contents []byte) []byte
		fine   bool
		unread int64
	}{
		"sound":           {func(c []byte) []byte { return c }, true, 0},
		"last edit cut":   {func(c []byte) []byte { return c[:len(c)-3] }, true, 0},
		"zeros behind it": {func(c []byte) []byte { return append(c, make([]byte, 100)...) }, true, 0},
		"blocks of zeros": {func(c []byte) []byte { return append(c, make([]byte, 1<<20)...) }, true, 0},
		"an edit in the block behind zeros": {func(c []byte) []byte {
			return append(append(c, make([]byte, 32<<10-len(c)%(32<<10))...), c...) // each of which is made again
		}, true, 0},
		"bytes in the block of zeros": {func(c []byte) []byte {
			return append(append(c, make([]byte, 100)...), "edit"...) // which LevelDB does not read
		}, true, 104},
		"nothing":          {func(c []byte) []byte { return nil }, false, 0},
		"a few bytes":      {func(c []byte) []byte { return c[:5] }, false, 0},
		"a byte changed":   {func(c []byte) []byte { c[20] ^= 1; return c }, false, 0},
		"all but 10 bytes": {func(c []byte) []byte { return c[:10] }, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			live(t, dir)
			path := manifest(t, dir)
			contents, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tt.do(contents), 0o666); err != nil {
				t.Fatal(err)
			}
			v, err := versions.Read(dir)
			if (err == nil) != tt.fine {
				t.Errorf("Read = %v, %v", v, err)
			}
			if err == nil && ((v.Torn > 0) != (name == "last edit cut") || v.Unread != tt.unread) {
				t.Errorf("%d bytes are torn and %d not read, want %d not read", v.Torn, v.Unread, tt.unread)
			}
		})
	}
}

// namedLogs returns the logs that a MANIFEST names.
func namedLogs(v *versions.Version) []uint64 {
	_, missing := v.LiveLogs(nil)
	return missing
}
