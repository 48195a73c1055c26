package command

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A rawEntry is a version of a key. Its kind can be any.
type rawEntry struct {
	key      string
	sequence uint64
	kind     internalkey.Kind
	value    string
}

// short is the key of an entry that is stored without sequence number and kind.
const short = "short"

func (v rawEntry) internal() string {
	if v.key == short {
		return short
	}
	return string(internalkey.Key{UserKey: []byte(v.key), Sequence: v.sequence, Kind: v.kind}.Append(nil))
}

// internalKey returns the internal key of the first version of a key.
func internalKey(user string) []byte {
	return []byte(rawEntry{user, 1, internalkey.Set, ""}.internal())
}

// compare compares entries in the order of internal keys.
func (v rawEntry) compare(o rawEntry) int {
	return cmp.Or(cmp.Compare(v.key, o.key), cmp.Compare(o.sequence, v.sequence), cmp.Compare(o.kind, v.kind))
}

// A rawDatabase is a database with arbitrary entries in its tables and logs, under valid checksums.
type rawDatabase struct {
	dir          string
	number, last uint64           // the last file number; the last sequence number
	comparer     string           // unless it is bytewise
	tables       []versions.Field // of the MANIFEST: tables and named logs
}

func (d *rawDatabase) write(t *testing.T, name string, contents []byte) (path string) {
	t.Helper()
	path = filepath.Join(d.dir, name)
	writeFile(t, path, contents)
	return path
}

// table sorts the entries, and adds a table of them to a level, in blocks of size entries. If disorder is not nil, it
// then moves entries within and between blocks, without changes to the index or the MANIFEST.
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
	d.tables = append(d.tables, versions.Field{Kind: versions.FieldAdd, Table: versions.Table{
		Level: level, Number: d.number, Size: uint64(len(contents)), Smallest: []byte(entries[0].internal()), Largest: []byte(entries[len(entries)-1].internal()),
	}})
	return d.write(t, fmt.Sprintf("%06d.ldb", d.number), contents)
}

// lastTable returns the table that was added last, as the MANIFEST will list it.
func (d *rawDatabase) lastTable() *versions.Table { return &d.tables[len(d.tables)-1].Table }

// nameLog makes the MANIFEST name a live log.
func (d *rawDatabase) nameLog(kind versions.FieldKind, number uint64) {
	d.tables = append(d.tables, versions.Field{Kind: kind, Table: versions.Table{Number: number}})
}

// log adds a log of writes, each in a batch.
func (d *rawDatabase) log(t *testing.T, writes []rawEntry) {
	t.Helper()
	var batches [][]byte
	for _, v := range writes {
		d.last = max(d.last, v.sequence)
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, v.sequence), 1)
		b = append(binary.AppendUvarint(append(b, byte(v.kind)), uint64(len(v.key))), v.key...)
		if v.kind != internalkey.Delete {
			b = append(binary.AppendUvarint(b, uint64(len(v.value))), v.value...)
		}
		batches = append(batches, b)
	}
	d.number++
	d.write(t, versions.LogName(d.number), tabletest.Log(t, batches...))
}

// end adds CURRENT and the MANIFEST.
func (d *rawDatabase) end(t *testing.T) {
	t.Helper()
	var tables []byte
	for _, f := range d.tables {
		tables = f.Append(tables)
	}
	var manifest bytes.Buffer
	h := versions.Header{Comparer: cmp.Or(d.comparer, table.BytewiseComparer.Name()), NextFile: d.number + 1, LastSequence: d.last}
	noError(t, versions.WriteManifest(&manifest, h, tables))
	d.write(t, "CURRENT", []byte("MANIFEST-000000\n"))
	d.write(t, "MANIFEST-000000", manifest.Bytes())
}

// addEdits adds edits to the MANIFEST, which stays shorter than a block.
func (d *rawDatabase) addEdits(t *testing.T, edits ...[]byte) {
	t.Helper()
	manifest := bytes.NewBuffer(readFile(t, filepath.Join(d.dir, "MANIFEST-000000")))
	for _, edit := range edits {
		noError(t, wal.NewWriter(manifest).Append(edit))
	}
	d.write(t, "MANIFEST-000000", manifest.Bytes())
}
