package merge

import (
	"errors"

	"github.com/sievetable/sievetable/table"
)

// An Iterator moves over entries in the order of their keys, in both directions. [table.Iter] is an
// Iterator over one table, and MemoryIter over entries in memory. LevelIter, Iter and SnapshotIter
// are Iterators over others. One goroutine at a time may use an Iterator.
//
// An Iterator is at an entry, before the first entry, or after the last one. A new one is before
// the first entry. From there Next moves to the first entry, and from after the last entry Prev
// moves to the last one.
//
// A move that fails returns false, and Error returns why. Next and Prev then fail too, until First,
// Last, SeekGE or SeekLT finds an entry, the end or the start.
//
// Implement Iterator for other sources of entries, such as the skip list of an engine. Before the
// first entry Prev stays there, and after the last one Next does. The key of an entry is never nil,
// also if it is empty. A second Close returns [table.ErrClosed].
type Iterator interface {
	// First moves to the first entry, and returns Valid.
	First() bool

	// Last moves to the last entry, and returns Valid.
	Last() bool

	// SeekGE moves to the first entry whose key is ≥ key, and returns Valid. key may be a
	// part of Key.
	SeekGE(key []byte) bool

	// SeekLT moves to the last entry whose key is < key, and returns Valid. key may be a
	// part of Key.
	SeekLT(key []byte) bool

	// Next moves to the next entry, and returns Valid.
	Next() bool

	// Prev moves to the entry before, and returns Valid.
	Prev() bool

	// Valid reports whether the Iterator is at an entry.
	Valid() bool

	// Key returns the entry's key, or nil if there is no entry. It is valid until the
	// next move or Close. The caller must not change it.
	Key() []byte

	// Value returns the entry's value, or nil if there is no entry. It is valid until the
	// next move or Close. The caller must not change it.
	Value() []byte

	// Error returns why the last move failed. It returns nil if the move found an entry,
	// the end or the start.
	Error() error

	// Close releases the Iterator's resources and returns Error. After Close every move
	// fails with [table.ErrClosed].
	Close() error
}

// An iterState is the state of an iterator over other iterators.
type iterState struct {
	at  position
	err error // why the move failed, if at is failed
}

type position int8

const (
	beforeFirst position = iota
	atEntry
	afterLast
	failed // a move failed, panicked, or is not ended
	closed
)

// errPanicked is the error of an iterator while a move runs. If a Comparer or an Iterator panics,
// it stays: an iterator that is half moved must not be read.
var errPanicked = errors.New("merge: an earlier call panicked")

// closedState is the state of a closed iterator.
var closedState = iterState{at: closed, err: table.ErrClosed}

// Valid reports whether the iterator is at an entry.
func (s *iterState) Valid() bool { return s.at == atEntry }

// Error returns why the last move failed. It returns nil if the move found an entry, the
// end or the start.
func (s *iterState) Error() error {
	if s.at == failed && s.err == nil {
		return errPanicked
	}
	return s.err
}

// startMove starts a move to anywhere. It returns false if the iterator is closed.
func (s *iterState) startMove() bool {
	if s.at == closed {
		return false
	}
	s.at, s.err = failed, nil
	return true
}

// endAtEntry ends a move at an entry.
func (s *iterState) endAtEntry() bool {
	s.at = atEntry
	return true
}

// endOutside ends a move before the first entry or after the last one.
func (s *iterState) endOutside(at position) bool {
	s.at = at
	return false
}

// fail ends a move with an error.
func (s *iterState) fail(err error) bool {
	s.at, s.err = failed, err
	return false
}

// closeIterator closes it, and returns the error of that. Close returns Error too, which
// closeIterator does not repeat.
func closeIterator(it Iterator) error {
	earlier := it.Error()
	if err := it.Close(); earlier == nil {
		return err
	}
	return nil
}
