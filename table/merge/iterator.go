package merge

import (
	"errors"

	"github.com/sievetable/sievetable/table"
)

// An Iterator iterates over entries in key order, in both directions. A new one is before the first entry. Without an
// entry, Key and Value are nil. It must not be used concurrently.
//
// A move that fails returns false, and Error returns why. Next and Prev then fail too, until First, Last or a seek
// succeeds. After Close every move, and a second Close, fails with [table.ErrClosed].
//
// Implement it for other sources, such as an engine's skip list. Prev before the first entry and Next after the last
// one stay there. The key of an entry is never nil, even if it is empty. The key to seek may alias Key.
type Iterator interface {
	// First moves to the first entry, and returns Valid.
	First() bool

	// Last moves to the last entry, and returns Valid.
	Last() bool

	// SeekGE moves to the first entry >= key, and returns Valid.
	SeekGE(key []byte) bool

	// SeekLT moves to the last entry < key, and returns Valid.
	SeekLT(key []byte) bool

	// Next moves to the next entry, and returns Valid.
	Next() bool

	// Prev moves to the previous entry, and returns Valid.
	Prev() bool

	// Valid reports whether the iterator is at an entry.
	Valid() bool

	// Key returns the entry's key until the next move. Do not modify it.
	Key() []byte

	// Value returns the entry's value until the next move. Do not modify it.
	Value() []byte

	// Error returns why the last move failed, or nil.
	Error() error

	// Close releases resources and returns Error.
	Close() error
}

// An iterState is the state of an iterator over other iterators.
type iterState struct {
	at  position
	err error  // why the move failed, if at is failed
	key []byte // of the entry, if at is atEntry
}

type position int8

const (
	beforeFirst position = iota
	atEntry
	afterLast
	failed // a move failed, panicked, or has not ended
	closed
)

// errPanicked is the error of an iterator during a move. It stays if a Comparer or an Iterator panics: a half-moved
// iterator must not be read.
var errPanicked = errors.New("merge: an earlier call panicked")

// closedState is the state of a closed iterator.
var closedState = iterState{at: closed, err: table.ErrClosed}

// Valid reports whether the iterator is at an entry.
func (s *iterState) Valid() bool { return s.at == atEntry }

// Key returns the entry's key until the next move. Do not modify it.
func (s *iterState) Key() []byte {
	if s.at != atEntry {
		return nil
	}
	return s.key
}

// Error returns why the last move failed, or nil.
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

// endAt ends a move at an entry, before the first one or after the last one.
func (s *iterState) endAt(at position) bool {
	s.at = at
	return at == atEntry
}

// fail ends a move with an error.
func (s *iterState) fail(err error) bool {
	s.at, s.err = failed, err
	return false
}

// closeIterator closes it, and returns err joined with the error of Close, unless that is only it.Error again.
func closeIterator(it Iterator, err error) error {
	earlier := it.Error()
	closing := it.Close()
	if earlier != nil || closing == nil {
		return err
	}
	return errors.Join(err, closing)
}
