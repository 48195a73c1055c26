package table

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// A SnapshotIter is an [Iterator] over the users' keys of a database as a snapshot
// sees them: those whose newest version that it sees is no deletion, with that
// version's value.
type SnapshotIter struct {
	place
	order    keyOrder // of users' keys
	it       Iterator
	sequence uint64

	// Going up, it is at the entry that is shown. Going down, it has passed all
	// versions of the entry's key, and key and value are copies.
	up    bool
	key   []byte // the user's key: going up, a part of it's key; going down, saved
	saved []byte // the key whose versions are passed over
	value []byte // going down
	seek  []byte
}

// NewSnapshotIter returns a SnapshotIter over the entries of it, whose keys are
// internal ones in InternalComparer(user)'s order; often it is a [MergingIter] over
// all tables of a database. Versions with a sequence number ≤ sequence are seen:
// MaxSequence sees the newest. Keys, those given to SeekGE and SeekLT too, are users'
// keys.
//
// It owns it from then on, and its Close closes it. An error of it fails the move as
// it is. So does, with [ErrCorrupt], a key that is no internal one, or of which the
// snapshot sees a version of a kind that is not known here.
//
// Going up, Value is it's, and nothing is copied but the key; going down, the value
// is copied.
func NewSnapshotIter(user Comparer, it Iterator, sequence uint64) *SnapshotIter {
	return &SnapshotIter{order: orderOf(user), it: it, sequence: min(sequence, MaxSequence)}
}

// Key returns the entry's user's key. It is valid until the next move, and must not
// be changed.
func (s *SnapshotIter) Key() []byte {
	if s.at != atEntry {
		return nil
	}
	return s.key
}

// Value returns the entry's value. It is valid until the next move, and must not be
// changed.
func (s *SnapshotIter) Value() []byte {
	switch {
	case s.at != atEntry:
		return nil
	case s.up:
		return s.it.Value()
	}
	return s.value
}

// First moves to the first entry.
func (s *SnapshotIter) First() bool {
	return s.depart() && s.rise(s.it.First(), false)
}

// Last moves to the last entry.
func (s *SnapshotIter) Last() bool {
	return s.depart() && s.fall(s.it.Last())
}

// SeekGE moves to the first entry whose user's key is ≥ user, which may be a part of
// Key.
func (s *SnapshotIter) SeekGE(user []byte) bool {
	s.seek = SeekKey(s.seek[:0], user, s.sequence)
	return s.depart() && s.rise(s.it.SeekGE(s.seek), false)
}

// SeekLT moves to the last entry whose user's key is < user, which may be a part of
// Key.
func (s *SnapshotIter) SeekLT(user []byte) bool {
	s.seek = SeekKey(s.seek[:0], user, MaxSequence)
	return s.depart() && s.fall(s.it.SeekLT(s.seek))
}

// Next moves to the next entry, from before the first one to the first one, and from
// the last one to after it.
func (s *SnapshotIter) Next() bool {
	switch s.at {
	case atEntry:
		s.at = lost // until the move is made
		if s.up {
			s.saved = append(s.saved[:0], s.key...)
		}
		return s.rise(s.it.Next(), true)
	case beforeFirst:
		return s.First()
	}
	return false
}

// Prev moves to the entry before, from after the last one to the last one, and from
// the first one to before it.
func (s *SnapshotIter) Prev() bool {
	switch s.at {
	case atEntry:
		s.at = lost
		if s.up {
			return s.fall(s.it.Prev()) // over versions that are too new to be seen
		}
		return s.fall(s.it.Valid())
	case afterLast:
		return s.Last()
	}
	return false
}

// rise ends a move that goes up, from where it is, at an entry if found. Versions of
// the saved key are passed over if pass is set.
func (s *SnapshotIter) rise(found, pass bool) bool {
	s.up = true
	for ; found; found = s.it.Next() {
		k, ok := ParseInternalKey(s.it.Key())
		switch {
		case !ok:
			return s.failShort()
		case k.Sequence > s.sequence || pass && s.order.compare(k.UserKey, s.saved) == 0:
		case k.Kind == KindDelete:
			s.saved, pass = append(s.saved[:0], k.UserKey...), true
		default:
			s.key = k.UserKey
			return s.show(k.Kind)
		}
	}
	return s.end(afterLast)
}

// fall ends a move that goes down, from where it is, at an entry if found. Versions
// of a key come the oldest first: the last one that the snapshot sees is known to be
// that when another key is reached.
func (s *SnapshotIter) fall(found bool) bool {
	s.up = false
	kind := KindDelete // of the saved key's newest version so far, if there is one
	for ; found; found = s.it.Prev() {
		k, ok := ParseInternalKey(s.it.Key())
		switch {
		case !ok:
			return s.failShort()
		case kind != KindDelete && s.order.compare(k.UserKey, s.saved) != 0:
			return s.show(kind)
		case k.Sequence > s.sequence:
			continue
		}
		kind, s.saved = k.Kind, append(s.saved[:0], k.UserKey...)
		if s.key = s.saved; kind == KindSet {
			s.value = append(s.value[:0], s.it.Value()...)
		}
	}
	if kind != KindDelete && s.it.Error() == nil {
		return s.show(kind)
	}
	return s.end(beforeFirst)
}

// show ends a move at a version that is no deletion.
func (s *SnapshotIter) show(kind Kind) bool {
	if kind != KindSet {
		return s.fail(fmt.Errorf("%w: the newest version of key %s is of kind %d, want %d (set) or %d (delete)", ErrCorrupt, wire.Quote(s.key), kind, KindSet, KindDelete))
	}
	return s.arrive()
}

// end ends a move for which there is no more entry.
func (s *SnapshotIter) end(at position) bool {
	if err := s.it.Error(); err != nil {
		return s.fail(err)
	}
	return s.leave(at)
}

// failShort ends a move at a key that is no internal one.
func (s *SnapshotIter) failShort() bool {
	key := s.it.Key()
	return s.fail(fmt.Errorf("%w: key %s has %d bytes, want an internal key: a user's key and %d bytes of sequence number and kind", ErrCorrupt, wire.Quote(key), len(key), format.InternalTrailerLen))
}

// Close closes the Iterator below and returns Error, joined with what went wrong in
// closing. Every move is ErrClosed from then on.
func (s *SnapshotIter) Close() error {
	err := s.Error()
	if s.at != closed {
		if e := closeIterator(s.it); e != nil {
			err = errors.Join(err, e)
		}
	}
	*s = SnapshotIter{place: closedPlace}
	return err
}
