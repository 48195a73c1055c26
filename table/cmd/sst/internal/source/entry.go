package source

import (
	"cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// An Entry is an entry of a table, or a write of a log, with the place where a Scan has found it.
type Entry struct {
	dbfile.Entry
	Table  *Table // nil: the entry is in a log
	Log    string // path of the log
	Offset uint64 // offset of the data block in the table, or of the batch in the log

	age int // the age of its table; 0 for a log
}

// newerThan reports whether e shadows o, which has the same key. With the same sequence number, a value comes before
// a deletion, as in the order of internal keys. Without sequence numbers, the newest table counts.
func (e Entry) newerThan(o Entry) bool {
	if e.Sequence == o.Sequence && (e.Kind == o.Kind || !e.Internal) {
		return e.age < o.age
	}
	return cmp.Or(cmp.Compare(e.Sequence, o.Sequence), cmp.Compare(e.Kind, o.Kind)) > 0
}

// Compare orders entries by key, and versions of a key from newest to oldest.
func (e Entry) Compare(o Entry, keys table.Comparer) int {
	if order := keys.Compare(e.Key, o.Key); order != 0 {
		return order
	}
	if order := cmp.Compare(o.Sequence, e.Sequence); order != 0 {
		return order
	}
	return cmp.Compare(o.Kind, e.Kind)
}
