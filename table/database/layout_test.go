package database_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// An entry is a version of a user key.
type entry struct {
	internalkey.Key
	value string
}

// set returns a write that sets a key, and del one that deletes it.
func set(user string, sequence uint64, value string) entry {
	return entry{internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: internalkey.Set}, value}
}

func del(user string, sequence uint64) entry {
	return entry{internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: internalkey.Delete}, ""}
}

// A layout is a database that is laid out by hand, like an engine's. The zero values of its fields are the defaults.
type layout struct {
	user      table.Comparer // nil: bytewise
	options   table.WriterOptions
	extension string // of tables; "": ldb
	log       uint64 // the first log that is live; 0: none is named
	last      uint64 // the last sequence number in the MANIFEST

	files  fstest.MapFS
	next   uint64
	fields []byte // of tables, in the MANIFEST
}

// number returns the number of a new file.
func (l *layout) number() uint64 {
	if l.files == nil {
		l.files, l.next = fstest.MapFS{}, 2
	}
	l.next++
	return l.next - 1
}

// table sorts the entries and adds a table of them to a level. It raises last to their sequence numbers.
func (l *layout) table(t testing.TB, level int, entries ...entry) versions.Table {
	t.Helper()
	o := l.options
	o.Comparer = table.InternalComparer(l.user)
	var pairs []workload.Pair
	for _, e := range entries {
		pairs = append(pairs, workload.Pair{Key: e.Append(nil), Value: []byte(e.value)})
		l.last = max(l.last, e.Sequence)
	}
	slices.SortFunc(pairs, func(a, b workload.Pair) int { return o.Comparer.Compare(a.Key, b.Key) })
	contents := tabletest.Build(t, &o, pairs)
	return l.add(level, contents, pairs[0].Key, pairs[len(pairs)-1].Key)
}

// add adds a table with the contents and the range to a level.
func (l *layout) add(level int, contents, smallest, largest []byte) versions.Table {
	m := versions.Table{Level: level, Number: l.number(), Size: uint64(len(contents)), Smallest: smallest, Largest: largest}
	l.files[fmt.Sprintf("%06d.%s", m.Number, cmp.Or(l.extension, "ldb"))] = &fstest.MapFile{Data: contents}
	l.list(m)
	return m
}

// list adds a table to the MANIFEST.
func (l *layout) list(m versions.Table) {
	l.fields = versions.Field{Kind: versions.FieldAdd, Table: m}.Append(l.fields)
}

// write adds a log of batches. The MANIFEST names the first one.
func (l *layout) write(t testing.TB, batches ...[]byte) (name string) {
	t.Helper()
	n := l.number()
	if l.log == 0 {
		l.log = n
	}
	name = versions.LogName(n)
	l.files[name] = &fstest.MapFile{Data: tabletest.Log(t, batches...)}
	return name
}

// batch returns the record of writes, whose sequence numbers count up from the first one's.
func batch(writes ...entry) []byte {
	b := binary.LittleEndian.AppendUint64(nil, writes[0].Sequence)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(writes)))
	for _, w := range writes {
		b = binary.AppendUvarint(append(b, byte(w.Kind)), uint64(len(w.UserKey)))
		if b = append(b, w.UserKey...); w.Kind == internalkey.Set {
			b = append(binary.AppendUvarint(b, uint64(len(w.value))), w.value...)
		}
	}
	return b
}

// end adds CURRENT and the MANIFEST, and returns the files.
func (l *layout) end(t testing.TB, edits ...[]byte) fstest.MapFS {
	t.Helper()
	next := l.number()
	l.files["CURRENT"] = &fstest.MapFile{Data: []byte("MANIFEST-000001\n")}
	l.files["MANIFEST-000001"] = &fstest.MapFile{Data: tabletest.Log(t, append(edits, l.header(next))...)}
	return l.files
}

// header returns the version edit of a layout: all of its tables.
func (l *layout) header(next uint64) []byte {
	h := versions.Header{Comparer: l.order().Name(), Log: l.log, NextFile: next, LastSequence: l.last}
	return append(h.Edit(), l.fields...)
}

func (l *layout) order() table.Comparer { return cmp.Or(l.user, table.BytewiseComparer) }

// onDisk returns a directory with the files.
func onDisk(t testing.TB, files fs.FS) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "db")
	noError(t, os.CopyFS(dir, files))
	return dir
}

func openDir(t testing.TB, dir string, o *database.Options) *database.DB {
	t.Helper()
	db, err := database.Open(dir, o)
	noError(t, err)
	t.Cleanup(func() { db.Close() }) // the test may have closed it
	return db
}

// openFS opens the database at the root of files.
func openFS(t testing.TB, files fs.FS, o *database.Options) *database.DB {
	t.Helper()
	db, err := database.OpenFS(files, ".", o)
	noError(t, err)
	t.Cleanup(func() { db.Close() }) // the test may have closed it
	return db
}

// openError returns the error of opening the database at the root of files, which it closes.
func openError(files fs.FS, o *database.Options) error {
	db, err := database.OpenFS(files, ".", o)
	if err == nil {
		db.Close() // it was only read
	}
	return err
}
