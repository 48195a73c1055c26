package database_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// A lookup reads one block of each table whose range includes the key and whose filter does not rule it out: an
// engine can leave a newer version in a deeper level. If the log has a write that is newer than all tables, no table
// is read.
func TestReadsOfGet(t *testing.T) {
	t.Parallel()
	l := layout{options: table.WriterOptions{BlockSize: 1, FilterPolicy: filter.NewBloom(20)}}
	l.table(t, 2, set("a", 1, ""), set("m", 2, ""), set("z", 3, ""))     // 000002.ldb
	l.table(t, 1, set("a", 4, ""), set("c", 5, ""))                      // 000003.ldb
	l.table(t, 1, set("g", 6, ""), set("m", 7, ""), set("z", 8, ""))     // 000004.ldb
	l.table(t, 0, set("bee", 9, ""), set("g", 10, ""), set("y", 11, "")) // 000005.ldb
	l.table(t, 0, del("bee", 12), set("g", 13, ""), set("x", 14, ""))    // 000006.ldb
	l.write(t, batch(set("l", 15, ""), set("m", 16, ""), del("z", 17)))  // in memory
	var read []string                                                    // the names of files, once for each read
	db := openFS(t, &openedFS{FS: l.end(t), read: func(name string) error { read = append(read, name); return nil }}, nil)
	for _, key := range []string{"ab", "bb", "cc", "hh"} { // validate the filters, which reads a block
		db.Get([]byte(key))
		db.At(8).Get([]byte(key))
	}
	for _, tt := range []struct {
		key      string
		sequence uint64
		want     []string
	}{
		{"m", 17, nil},  // in the log
		{"z", 17, nil},  // in the log, deleted
		{"zz", 17, nil}, // in no range
		{"d", 17, nil},  // in the ranges of two tables of level 0, whose filters rule it out
		{"bee", 17, []string{"000006.ldb", "000005.ldb"}},             // level 0 overlaps
		{"g", 17, []string{"000006.ldb", "000005.ldb", "000004.ldb"}}, // and level 1 may have a newer version
		{"x", 17, []string{"000006.ldb"}},                             // the filter of the other rules it out
		{"y", 17, []string{"000005.ldb"}},                             // the range of the other does not include it
		{"c", 17, []string{"000003.ldb"}},                             // one table of level 1 is searched
		{"m", 7, []string{"000004.ldb", "000002.ldb"}},                // and one of level 2
		{"absent", 17, nil},                                           // in the ranges of levels 1 and 2
	} {
		read = nil
		db.At(tt.sequence).Get([]byte(tt.key)) // other tests check its result
		if diff := cmp.Diff(tt.want, slices.Compact(read)); diff != "" {
			t.Errorf("Get(%q) as of %d reads (-want +got):\n%s", tt.key, tt.sequence, diff)
		}
	}
}

// A TailSize also applies to small files, of which only the last 8 KiB are otherwise read at once.
func TestReadsOfOpen(t *testing.T) {
	t.Parallel()
	l := layout{options: table.WriterOptions{BlockSize: 1}}
	var entries []entry
	for i := range 1000 { // the index is larger
		entries = append(entries, set(fmt.Sprintf("%020d", i), 1, ""))
	}
	l.table(t, 1, entries...)
	reads := 0
	count := func(name string) error {
		if name == "000002.ldb" {
			reads++
		}
		return nil
	}
	openFS(t, &openedFS{FS: l.end(t), read: count}, &database.Options{Reader: table.ReaderOptions{TailSize: 1 << 20}})
	if reads != 1 {
		t.Errorf("%d reads of the table, want 1", reads)
	}
}
