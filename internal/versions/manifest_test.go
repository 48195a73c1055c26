package versions

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/internal/long"
)

// tablesOf creates tables from arbitrary bytes, with numbers from 2 on.
func tablesOf(data []byte) (tables []*Table, fields []byte) {
	for len(data) > 0 {
		n := min(len(data), 1+int(data[0])%40)
		t := Table{Level: int(data[0]) % (maxLevel + 1), Number: uint64(len(tables)) + 2, Size: math.MaxUint64 >> (data[0] % 64)}
		t.Smallest, t.Largest = data[:n/2], data[n/2:n]
		fields = Field{Kind: FieldAdd, Table: t}.Append(fields)
		tables, data = append(tables, &t), data[n:]
	}
	return tables, fields
}

// The version that is read from a MANIFEST equals the one that was written.
func FuzzWriteManifest(f *testing.F) {
	long.NoRace(f)
	f.Add("leveldb.BytewiseComparator", uint64(1<<56-1), []byte("some bytes, and many more, of which tables are made with the keys that they give"))
	f.Add("", uint64(0), []byte{})
	f.Add("idb_cmp1", uint64(300), bytes.Repeat([]byte("0123456789abcdef"), 2_000)) // in several blocks
	f.Fuzz(func(t *testing.T, comparer string, sequence uint64, data []byte) {
		tables, fields := tablesOf(data)
		var manifest bytes.Buffer
		noError(t, WriteManifest(&manifest, Header{Comparer: comparer, NextFile: uint64(len(tables)) + 2, LastSequence: sequence}, fields))
		v, end, err := readVersion(bytes.NewReader(manifest.Bytes()))
		if err != nil || end != int64(manifest.Len()) {
			t.Fatalf("%d bytes of %d are read, %v", end, manifest.Len(), err)
		}
		slices.SortFunc(v.Tables, func(a, b *Table) int { return int(a.Number) - int(b.Number) })
		want := &Version{Comparer: comparer, LastSequence: sequence, Named: sequence, Tables: tables, nextFile: uint64(len(tables)) + 2, flushed: sequence}
		for _, t := range tables {
			want.highestLevel = max(want.highestLevel, t.Level)
		}
		if diff := cmp.Diff(want, v, cmp.AllowUnexported(Version{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	})
}
