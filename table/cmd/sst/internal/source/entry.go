package source

import (
	"cmp"
	"fmt"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// An Entry is a pair of a table.
type Entry struct {
	Key, Value []byte // of an internal key the user's
	Internal   bool   // the keys are internal keys, and these are known:
	Sequence   uint64
	Kind       table.Kind

	// Scan says where it was found.
	Table  *Table // nil: in a log
	Log    string // the log's path
	Offset uint64 // of the data block in the table, or of the batch in the log

	age int // of its table: the lower, the newer; 0 of a log's
}

// parseEntry takes an internal key apart.
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

// newerThan reports whether e hides o, which is of the same key.
func (e Entry) newerThan(o Entry) bool {
	if e.Sequence != o.Sequence {
		return e.Sequence > o.Sequence
	}
	return e.age < o.age
}

// Compare orders entries by key and, where they are versions, the newest first.
func (e Entry) Compare(o Entry, keys table.Comparer) int {
	if order := keys.Compare(e.Key, o.Key); order != 0 {
		return order
	}
	if order := cmp.Compare(o.Sequence, e.Sequence); order != 0 {
		return order
	}
	return cmp.Compare(o.Kind, e.Kind)
}
