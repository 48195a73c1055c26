package command

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
)

// A rawEntry is a version of a key. Its kind can be any.
type rawEntry struct {
	key      string
	sequence uint64
	kind     table.Kind
	value    string
}

// short is the key of an entry that is stored without sequence number and kind.
const short = "short"

func (v rawEntry) internal() string {
	if v.key == short {
		return short
	}
	return string(table.InternalKey{UserKey: []byte(v.key), Sequence: v.sequence, Kind: v.kind}.Append(nil))
}

// compare is the order of internal keys.
func (v rawEntry) compare(o rawEntry) int {
	return cmp.Or(cmp.Compare(v.key, o.key), cmp.Compare(o.sequence, v.sequence), cmp.Compare(o.kind, v.kind))
}

// A rawDatabase is a database whose tables and logs have any entries, under right checksums.
type rawDatabase struct {
	dir          string
	number, last uint64 // of files; the last sequence number
	tables       []byte // in the MANIFEST
}

func (d *rawDatabase) write(t *testing.T, name string, contents []byte) (path string) {
	t.Helper()
	path = filepath.Join(d.dir, name)
	writeFile(t, path, contents)
	return path
}

// table adds a table of the entries, which it sorts, to a level. disorder, unless nil, then moves entries in and
// between its blocks, which have the size that is given. Neither the index nor the MANIFEST knows.
func (d *rawDatabase) table(t *testing.T, level, size int, entries []rawEntry, disorder func(sorted []rawEntry)) (path string) {
	t.Helper()
	slices.SortFunc(entries, rawEntry.compare)
	stored := slices.Clone(entries)
	if disorder != nil {
		disorder(stored)
	}
	var f rawtable.File
	var index []string
	for from := 0; from < len(entries); from += size {
		to := min(from+size, len(entries))
		var block []string
		for _, v := range stored[from:to] {
			block = append(block, v.internal(), v.value)
			d.last = max(d.last, v.sequence)
		}
		index = append(index, entries[to-1].internal(), f.Block(rawtable.Entries(block...)))
	}
	contents := f.Footer(f.Block(rawtable.Entries()), f.Block(rawtable.Entries(index...)))
	d.number++
	d.tables = versions.Field{Kind: versions.FieldAdd, Table: versions.Table{
		Level: level, Number: d.number, Size: uint64(len(contents)), Smallest: []byte(entries[0].internal()), Largest: []byte(entries[len(entries)-1].internal()),
	}}.Append(d.tables)
	return d.write(t, fmt.Sprintf("%06d.ldb", d.number), contents)
}

// log adds a log of writes, each in a batch.
func (d *rawDatabase) log(t *testing.T, writes []rawEntry) {
	t.Helper()
	d.number++
	f, err := os.Create(d.write(t, versions.LogName(d.number), nil))
	if err != nil {
		t.Fatal(err)
	}
	w := wal.NewWriter(f)
	for _, v := range writes {
		d.last = max(d.last, v.sequence)
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, v.sequence), 1)
		b = append(binary.AppendUvarint(append(b, byte(v.kind)), uint64(len(v.key))), v.key...)
		if v.kind != table.KindDelete {
			b = append(binary.AppendUvarint(b, uint64(len(v.value))), v.value...)
		}
		err = errors.Join(err, w.Append(b))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// end adds CURRENT and the MANIFEST.
func (d *rawDatabase) end(t *testing.T) {
	t.Helper()
	d.write(t, "CURRENT", []byte("MANIFEST-000000\n"))
	f, err := os.Create(d.write(t, "MANIFEST-000000", nil))
	if err == nil {
		err = errors.Join(versions.WriteManifest(f, versions.Header{Comparer: table.BytewiseComparer.Name(), NextFile: d.number + 1, LastSequence: d.last}, d.tables), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
