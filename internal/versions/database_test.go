package versions

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/journal"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/long"
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
	v, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, numbers(v)); diff != "" || len(want) < 3 {
		t.Errorf("%d tables (-goleveldb +read):\n%s", len(want), diff)
	}
	if v.Comparer != "leveldb.BytewiseComparator" || v.log == 0 {
		t.Errorf("comparer %q, log %d", v.Comparer, v.log)
	}
}

// numbers returns the numbers of the tables.
func numbers(v *Version) map[uint64]bool {
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
	v, err := Read(dir)
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

// Edits move tables from level to level: what is deleted from one may be added to the next.
func TestEditsMoveTables(t *testing.T) {
	t.Parallel()
	e := versionBuilder{tables: map[tableID]*Table{}}
	for _, edit := range []string{
		"\x07\x00\x05\x10\x01a\x01b" + "\x07\x00\x06\x10\x01a\x01b",
		"\x07\x01\x05\x10\x01a\x01b" + "\x06\x00\x05", // in the order that no engine writes
		"\x06\x00\x09\x06\x01\x06",                    // which are not there
		"\x07\x00\x08\x10\x01a\x01b\x06\x00\x08",      // the same one
	} {
		if err := e.apply([]byte(edit)); err != nil {
			t.Fatal(err)
		}
	}
	want := map[tableID]*Table{
		{1, 5}: {Level: 1, Number: 5, Size: 16, Smallest: []byte("a"), Largest: []byte("b")},
		{0, 6}: {Level: 0, Number: 6, Size: 16, Smallest: []byte("a"), Largest: []byte("b")},
		{0, 8}: {Level: 0, Number: 8, Size: 16, Smallest: []byte("a"), Largest: []byte("b")},
	}
	if diff := cmp.Diff(want, e.tables, cmp.AllowUnexported(tableID{})); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
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
			v, err := Read(dir)
			if (err == nil) != tt.fine {
				t.Errorf("Read = %v, %v", v, err)
			}
			if err == nil && ((v.Torn > 0) != (name == "last edit cut") || v.Unread != tt.unread) {
				t.Errorf("%d bytes are torn and %d not read, want %d not read", v.Torn, v.Unread, tt.unread)
			}
		})
	}
}

// What is no regular file, or larger than that of any database, is an error that says so,
// and takes neither time nor memory.
func TestReadBounds(t *testing.T) {
	t.Parallel()
	record := func(edit []byte) func(path string) error {
		return func(path string) error {
			var out bytes.Buffer
			w := journal.NewWriter(&out)
			r, err := w.Next()
			if err == nil {
				_, err = r.Write(edit)
			}
			return errors.Join(err, w.Close(), os.WriteFile(path, out.Bytes(), 0o666))
		}
	}
	sparse := func(size int64) func(path string) error {
		return func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o666), os.Truncate(path, size)) }
	}
	link := func(path string) error { return os.Symlink(os.DevNull, path) }
	dir := func(path string) error { return os.Mkdir(path, 0o777) }
	many := func(path string) error {
		var edit []byte
		for i := range uint64(MaxTables + 1) {
			edit = append(binary.AppendUvarint(append(edit, byte(FieldAdd), 0), i), 0, 0, 0)
		}
		return record(edit)(path)
	}
	for _, tt := range []struct {
		name, file string
		make       func(path string) error
		want       string
	}{
		{"CURRENT of many bytes", "CURRENT", sparse(1 << 40), "CURRENT: 1099511627776 bytes, want at most 4096"},
		{"CURRENT that is a device", "CURRENT", link, "CURRENT: a device, want a regular file"},
		{"CURRENT that is a directory", "CURRENT", dir, "CURRENT: a directory, want a regular file"},
		{"MANIFEST of many bytes", "MANIFEST-000001", sparse(1 << 40), "MANIFEST-000001: 1099511627776 bytes, want at most 268435456"},
		{"MANIFEST that is a device", "MANIFEST-000001", link, "MANIFEST-000001: a device, want a regular file"},
		{"many tables", "MANIFEST-000001", many, "MANIFEST-000001: edit 0, at 0: more than 1048576 tables, want at most that many"},
		{"a level that no database has", "MANIFEST-000001", record([]byte{byte(FieldDelete), maxLevel + 1, 5}), "MANIFEST-000001: edit 0, at 0: level 64, want at most 63"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "many tables" {
				long.Test(t)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000001\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, tt.file)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(path); err != nil {
				t.Skip(err)
			}
			if v, err := Read(dir); err == nil || v != nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("Read = %v, %v; want %s", v, err, tt.want)
			}
		})
	}
}

// Edits that say what is not so are errors, and never more than that.
func FuzzApply(f *testing.F) {
	f.Add([]byte("\x01\x03abc\x02\x05\x03\x06\x04\x07\x05\x00\x01a\x06\x00\x09\x07\x00\x0a\x64\x01a\x01b\x09\x00"))
	f.Add([]byte("\x08"))
	f.Fuzz(func(t *testing.T, edit []byte) {
		e := versionBuilder{tables: map[tableID]*Table{}}
		if err := e.apply(edit); err == nil && len(e.tables) > len(edit)/6 {
			t.Errorf("%d bytes add %d tables", len(edit), len(e.tables))
		}
	})
}
