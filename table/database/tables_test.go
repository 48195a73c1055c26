package database_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// Tables lists the tables in the order of lookups.
func TestTables(t *testing.T) {
	t.Parallel()
	var l layout
	l.table(t, 2, set("m", 1, ""), set("z", 2, ""))
	l.table(t, 2, set("a", 3, ""), del("b", 4))
	l.table(t, 0, set("a", 5, ""))
	l.table(t, 0, set("c", 6, ""))
	files := l.end(t)
	var got []string
	for _, m := range openFS(t, files, nil).Tables() {
		got = append(got, strings.Join([]string{string(rune('0' + m.Level)), m.Name, m.Smallest.String(), m.Largest.String()}, ", "))
		if int(m.Size) != len(files[m.Name].Data) || !strings.Contains(m.Name, string(rune('0'+m.Number))) {
			t.Errorf("%+v, want the size %d", m, len(files[m.Name].Data))
		}
	}
	want := []string{
		`0, 000005.ldb, "c" @ 6 : set, "c" @ 6 : set`,
		`0, 000004.ldb, "a" @ 5 : set, "a" @ 5 : set`,
		`2, 000003.ldb, "a" @ 3 : set, "b" @ 4 : delete`,
		`2, 000002.ldb, "m" @ 1 : set, "z" @ 2 : set`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// If a file has more bytes than its table, they are ignored, as in an engine. A filter that rules out keys of the
// table is not used, and errors name the file.
func TestTableWithMoreBytes(t *testing.T) {
	t.Parallel()
	other := func([]byte) []byte { return []byte("another key") }
	for name, o := range map[string]table.WriterOptions{
		"a filter":                           {FilterPolicy: filter.NewBloom(10)},
		"a filter that excludes keys":        {FilterPolicy: filter.NewBloom(10), FilterKey: other},
		"a table filter":                     {TableFilterPolicy: filter.NewTableBloom(10)},
		"a table filter that excludes keys":  {TableFilterPolicy: filter.NewTableBloom(10), FilterKey: other},
		"filters, and blocks of few entries": {TableFilterPolicy: filter.NewTableBloom(10), FilterPolicy: filter.NewBloom(10), FilterKey: other, BlockSize: 1},
	} {
		l := layout{options: o}
		l.table(t, 1, set("a", 1, "value"), set("c", 2, "other"))
		files := l.end(t)
		files["000002.ldb"].Data = append(files["000002.ldb"].Data, "more"...)
		opened := &openedFS{FS: files}
		db := openFS(t, opened, nil)
		for key, value := range map[string]string{"a": "value", "b": "", "c": "other"} {
			if got, err := db.Get([]byte(key)); string(got) != value || (err == nil) != (value != "") {
				t.Errorf("%s: Get(%q) = %q, %v; want %q", name, key, got, err, value)
			}
		}
		if err := db.Close(); err != nil || opened.open.Load() != 0 {
			t.Errorf("%s: Close = %v, %d files are open", name, err, opened.open.Load())
		}
		files["000002.ldb"].Data[0] ^= 1
		if _, err := openFS(t, files, nil).Get([]byte("a")); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "000002.ldb: ") {
			t.Errorf("%s: Get of a corrupt block = %v, want an error that names 000002.ldb", name, err)
		}
	}
}

// If keys of different bytes are equal in the order, looking up one finds the other.
func TestEqualKeysOfDifferentBytes(t *testing.T) {
	t.Parallel()
	order := anyCase{"any case"}
	l := layout{user: order, options: table.WriterOptions{FilterPolicy: filter.NewBloom(10)}}
	l.table(t, 1, set("Ada", 1, "old"), set("BOB", 2, "Bob"))
	l.table(t, 0, set("aDA", 3, "new"))
	l.write(t, batch(del("bob", 4), set("eve", 5, "Eve")))
	db := openFS(t, l.end(t), &database.Options{Comparers: []table.Comparer{order}})
	for _, key := range []string{"ada", "ADA", "Ada"} {
		checkGet(t, db.View, key, "new", true)
		checkGet(t, db.At(2), key, "old", true)
		checkGet(t, db.View, key+"x", "", false)
	}
	checkGet(t, db.View, "EVE", "Eve", true)
	checkGet(t, db.View, "Bob", "", false)
	checkGet(t, db.At(3), "Bob", "Bob", true)
	if got := collect(t, db.View, nil); len(got) != 2 {
		t.Errorf("%q, want Ada and Eve", got)
	}
}

// anyCase is the bytewise order of keys in small letters.
type anyCase struct{ tabletest.Reversed }

func (anyCase) Compare(a, b []byte) int { return bytes.Compare(bytes.ToLower(a), bytes.ToLower(b)) }
func (anyCase) FilterKey([]byte) []byte { return nil }

// A key outside of its table's range in the MANIFEST fails iterators, on every level.
func TestKeyOutOfItsRange(t *testing.T) {
	t.Parallel()
	for level := range 3 {
		var l layout
		m := l.table(t, level, set("a", 1, "a"), set("m", 2, "m"), set("z", 3, "z"))
		m.Smallest = internal("b", 1)
		l.list(m)
		for e, err := range openFS(t, l.end(t), nil).All(nil) {
			if want := "000002.ldb has key"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("level %d: %q, %v, want the error %s", level, e.Key, err, want)
			}
		}
	}
}

// Chromium's IndexedDB has such keys: the numbers 0 and −0 are equal. Filters have the bytes of only one of them.
func TestIndexedDB(t *testing.T) {
	t.Parallel()
	key := func(n float64) string { // of an entry of a store
		return string(binary.LittleEndian.AppendUint64([]byte{0, 1, 1, 1, 3}, math.Float64bits(n)))
	}
	l := layout{user: database.IDBComparer, options: table.WriterOptions{FilterPolicy: filter.NewBloom(10)}}
	l.table(t, 1, set(key(-1), 1, "-1"), set(key(0), 2, "0"))
	l.write(t, batch(set(key(3), 3, "3")))
	db := openFS(t, l.end(t), nil)
	for n, want := range map[float64]string{-1: "-1", 0: "0", math.Copysign(0, -1): "0", 3: "3"} {
		checkGet(t, db.View, key(n), want, true)
	}
	checkGet(t, db.View, key(2), "", false)
	if got := collect(t, db.View, &table.IterOptions{Lower: []byte(key(-1)), Upper: []byte(key(3))}); len(got) != 2 {
		t.Errorf("%q, want −1 and 0", got)
	}
}
