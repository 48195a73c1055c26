package dbfile

import (
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
}

// Parse sets e to an entry with a stored key, of which it splits an internal one.
func (e *Entry) Parse(key, value []byte, internal bool) error {
	e.Value = value
	if !internal {
		e.Key, e.Kind = key, table.KindSet
		return nil
	}
	k, ok := table.ParseInternalKey(key)
	if !ok {
		return fmt.Errorf("key %s has < 8 bytes, so it is not an internal key: use --internal-keys no", wire.Quote(key))
	}
	e.Key, e.Internal, e.Sequence, e.Kind = k.UserKey, true, k.Sequence, k.Kind
	return nil
}

// A Stored says how keys are stored.
type Stored struct {
	Internal bool           // they are internal keys
	Order    table.Comparer // order of user keys; table.AnyOrder: unknown
}

// Comparer returns the order of the stored keys.
func (s Stored) Comparer() table.Comparer {
	if s.Internal {
		return table.InternalComparer(s.Order)
	}
	return s.Order
}

// SeekKey returns a stored key that is ≤ all versions of a user key, or nil for nil.
func (s Stored) SeekKey(user []byte) []byte {
	if user == nil || !s.Internal {
		return user
	}
	return table.SearchKey(nil, user, table.MaxSequence)
}

// FilterKey returns the key that filters hold for a stored key: the user key of an internal
// key.
func (s Stored) FilterKey(key []byte) []byte {
	if s.Internal {
		return table.InternalFilterKey(key)
	}
	return key
}

// A Form is what is detected of a table when it is opened first, and holds when it is opened again.
type Form struct {
	FileSize int64 // if it is another one, so is the table
	Stored
	OrderNote      string // why the order is not as expected, for messages; or ""
	FilterUnusable bool   // the filter excludes keys that the table has, so it is not used

	// Rewritten says that goleveldb's recovery wrote the table: with internal keys, but with
	// order and filter as for plain keys. Then the Reader can only scan the table. For
	// lookups it must be sorted again.
	Rewritten bool

	// FilterHasUserKeys says that the filter holds user keys, although the keys are not
	// treated as internal keys.
	FilterHasUserKeys bool
}
