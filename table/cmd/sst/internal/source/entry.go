package source

import (
	"cmp"
	"fmt"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// An Entry is an entry of a table, or a write of a log.
type Entry struct {
	Key, Value []byte // for an internal key, the user key
	Internal   bool   // the key is an internal key, with Sequence and Kind
	Sequence   uint64
	Kind       table.Kind

	// Scan sets where the entry was found.
	Table  *Table // nil: the entry is in a log
	Log    string // path of the log
	Offset uint64 // offset of the data block in the table, or of the batch in the log

	age int // the age of its table; 0 for a log
}

// parseEntry splits an internal key.
func parseEntry(key, value []byte, internal bool) (Entry, error) {
	if !internal {
		return Entry{Key: key, Value: value, Kind: table.KindSet}, nil
	}
	k, ok := table.ParseInternalKey(key)
	if !ok {
		return Entry{}, fmt.Errorf("key %s has < 8 bytes, so it is not an internal key: use --internal-keys no", wire.Quote(key))
	}
	return Entry{Key: k.UserKey, Value: value, Internal: true, Sequence: k.Sequence, Kind: k.Kind}, nil
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
