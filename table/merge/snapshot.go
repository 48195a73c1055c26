package merge

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A SnapshotIter is an [Iterator] over the user keys of a database as of a snapshot: each user key with its newest
// visible value, unless that is a deletion.
type SnapshotIter struct {
	iterState
	order    rowblock.Order // of user keys
	it       Iterator       // over internal keys
	sequence uint64

	// If ascending, it is at the current entry, and key aliases its key. Otherwise it has passed all versions of the
	// entry's user key, key is savedKey, and savedValue is a copy.
	ascending  bool
	savedKey   []byte // the user key whose further versions are skipped
	savedValue []byte // the entry's value, if not ascending
	seekKey    []byte
}

// NewSnapshotIter returns a SnapshotIter over it, often an Iter over the memtable and all tables of a database,
// whose keys are internal keys in the order of [table.InternalComparer](user). The SnapshotIter owns it. The
// snapshot sees versions with a sequence number <= sequence; [internalkey.MaxSequence] sees all.
//
// A key that is not an internal key, or a newest version that is neither a value nor a deletion, fails the move with
// [table.ErrCorrupt].
func NewSnapshotIter(user table.Comparer, it Iterator, sequence uint64) *SnapshotIter {
	return &SnapshotIter{order: rowblock.OrderOf(user), it: it, sequence: min(sequence, internalkey.MaxSequence)}
}

// Value returns the entry's value until the next move. Do not modify it.
func (s *SnapshotIter) Value() []byte {
	switch {
	case s.at != atEntry:
		return nil
	case s.ascending:
		return s.it.Value()
	}
	return s.savedValue
}

// First moves to the first entry, and returns Valid.
func (s *SnapshotIter) First() bool {
	return s.startMove() && s.forward(s.it.First(), false)
}

// Last moves to the last entry, and returns Valid.
func (s *SnapshotIter) Last() bool {
	return s.startMove() && s.backward(s.it.Last())
}

// SeekGE moves to the first entry >= user, and returns Valid.
func (s *SnapshotIter) SeekGE(user []byte) bool {
	s.seekKey = internalkey.SearchKey(s.seekKey[:0], user, s.sequence)
	return s.startMove() && s.forward(s.it.SeekGE(s.seekKey), false)
}

// SeekLT moves to the last entry < user, and returns Valid.
func (s *SnapshotIter) SeekLT(user []byte) bool {
	s.seekKey = internalkey.SearchKey(s.seekKey[:0], user, internalkey.MaxSequence)
	return s.startMove() && s.backward(s.it.SeekLT(s.seekKey))
}

// Next moves to the next entry, and returns Valid.
func (s *SnapshotIter) Next() bool {
	switch s.at {
	case atEntry:
		s.at = failed // until the move ends
		if s.ascending {
			s.savedKey = append(s.savedKey[:0], s.key...)
		}
		return s.forward(s.it.Next(), true)
	case beforeFirst:
		return s.First()
	}
	return false
}

// Prev moves to the previous entry, and returns Valid.
func (s *SnapshotIter) Prev() bool {
	switch s.at {
	case atEntry:
		s.at = failed
		if s.ascending {
			return s.backward(s.it.Prev()) // at a smaller key, or at an invisible version
		}
		return s.backward(s.it.Valid())
	case afterLast:
		return s.Last()
	}
	return false
}

// forward ends a move towards greater keys. found reports whether s.it is at an entry. If skipping, forward skips
// versions of savedKey.
func (s *SnapshotIter) forward(found, skipping bool) bool {
	s.ascending = true
	for ; found; found = s.it.Next() {
		k, ok := internalkey.Parse(s.it.Key())
		switch {
		case !ok:
			return s.failShort()
		case k.Sequence > s.sequence || skipping && compare(&s.order, k.UserKey, s.savedKey) == 0:
		case k.Kind == internalkey.Delete:
			s.savedKey, skipping = append(s.savedKey[:0], k.UserKey...), true
		default:
			s.key = k.UserKey
			return s.show(k.Kind)
		}
	}
	return s.end(afterLast)
}

// backward ends a move towards smaller keys. found reports whether s.it is at an entry. The oldest version of a user
// key comes first, so backward saves each version that the snapshot sees. At the next user key it knows that the
// saved one is the newest.
func (s *SnapshotIter) backward(found bool) bool {
	s.ascending = false
	kind := internalkey.Delete // of savedKey's newest version so far; Delete if there is none
	for ; found; found = s.it.Prev() {
		k, ok := internalkey.Parse(s.it.Key())
		switch {
		case !ok:
			return s.failShort()
		case kind != internalkey.Delete && compare(&s.order, k.UserKey, s.savedKey) != 0:
			return s.show(kind)
		case k.Sequence > s.sequence:
			continue
		}
		kind, s.savedKey = k.Kind, format.AppendNotNil(s.savedKey[:0], k.UserKey)
		if s.key = s.savedKey; kind == internalkey.Set {
			s.savedValue = format.AppendNotNil(s.savedValue[:0], s.it.Value())
		}
	}
	if kind != internalkey.Delete && s.it.Error() == nil {
		return s.show(kind)
	}
	return s.end(beforeFirst)
}

// show ends a move at an entry, whose version has that kind.
func (s *SnapshotIter) show(kind internalkey.Kind) bool {
	if kind != internalkey.Set {
		return s.fail(fmt.Errorf("%w: the newest version of key %s has kind %d, neither %d (set) nor %d (delete)",
			table.ErrCorrupt, format.Quote(s.key), kind, internalkey.Set, internalkey.Delete))
	}
	return s.endAt(atEntry)
}

// end ends a move that finds no entry.
func (s *SnapshotIter) end(at position) bool {
	if err := s.it.Error(); err != nil {
		return s.fail(err)
	}
	return s.endAt(at)
}

// failShort ends a move at a key that is too short for an internal key.
func (s *SnapshotIter) failShort() bool {
	key := s.it.Key()
	return s.fail(fmt.Errorf(
		"%w: key %s has %d bytes: an internal key is a user key and %d bytes of sequence number and kind",
		table.ErrCorrupt, format.Quote(key), len(key), format.InternalTrailerLen))
}

// Close closes the underlying Iterators, and returns Error joined with their errors.
func (s *SnapshotIter) Close() error {
	err := s.Error()
	if s.at != closed {
		err = closeIterator(s.it, err)
	}
	*s = SnapshotIter{iterState: closedState}
	return err
}
