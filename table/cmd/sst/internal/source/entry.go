package source

import (
	"bytes"
	"cmp"
	"errors"
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

	rank int // of its file: the lower, the newer
}

// entryOf takes an internal key apart.
func (f *File) entryOf(key, value []byte) (Entry, error) {
	if !f.Internal {
		return Entry{Key: key, Value: value, Kind: table.KindSet}, nil
	}
	k, ok := table.ParseInternalKey(key)
	if !ok {
		return Entry{}, fmt.Errorf("%s: key %s has under 8 bytes, and is no internal key: say --internal-keys no", f.Path, wire.Quote(key))
	}
	return Entry{Key: k.User, Value: value, Internal: true, Sequence: k.Sequence, Kind: k.Kind}, nil
}

// newerThan reports whether e hides o, which is of the same key.
func (e Entry) newerThan(o Entry) bool {
	if e.Sequence != o.Sequence {
		return e.Sequence > o.Sequence
	}
	return e.rank < o.rank
}

// Get returns the newest version of key in the file, which may be a tombstone.
func (f *File) Get(key []byte) (e Entry, found bool, err error) {
	var k, v []byte
	if f.Internal {
		k, v, err = f.Reader.Find(table.SeekKey(nil, key, table.MaxSequence))
	} else {
		k = key
		v, err = f.Reader.Get(key)
	}
	if errors.Is(err, table.ErrNotFound) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, f.Wrap(err)
	}
	e, err = f.entryOf(k, v)
	return e, err == nil, err
}

// Get returns the entry that key has in the tables together: its newest version, if
// that is no tombstone. All tables that may have one are asked, as what is newer does
// not follow from their names in a database; of tables without internal keys, the
// first that has the key is the last to be asked.
func (s *Source) Get(key []byte) (newest Entry, found bool, err error) {
	return s.newest(func(f *File) (Entry, bool, error) { return f.Get(key) })
}

// newest is Get, by asking each table.
func (s *Source) newest(ask func(f *File) (Entry, bool, error)) (newest Entry, found bool, err error) {
	for rank, f := range s.Files {
		e, ok, err := ask(f)
		if err != nil {
			return Entry{}, false, err
		}
		if e.rank = rank; !ok || found && !e.newerThan(newest) {
			continue
		}
		if newest, found = e, true; !s.Internal {
			break
		}
	}
	if newest.Internal && newest.Kind == table.KindDelete {
		found = false
	}
	return newest, found, nil
}

// Compare orders entries by key and, where they are versions, the newest first.
func (e Entry) Compare(o Entry) int {
	if order := bytes.Compare(e.Key, o.Key); order != 0 {
		return order
	}
	if order := cmp.Compare(o.Sequence, e.Sequence); order != 0 {
		return order
	}
	return cmp.Compare(o.Kind, e.Kind)
}
