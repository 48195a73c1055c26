package table

// An Iterator moves over entries in order, in both directions. It is what [Iter],
// [LevelIter], [MergingIter] and [SnapshotIter] have in common, and what those that
// stand on others take.
//
// A new Iterator is before the first entry. Moves return Valid. A move that runs off
// the end is after the last entry, from where Prev moves to the last; one that runs
// off the start is before the first, from where Next moves to the first. When a move
// fails, Error says why, and Next and Prev fail too, until First, Last, SeekGE or
// SeekLT has found a place to go on from.
//
// An Iterator serves one goroutine at a time.
type Iterator interface {
	First() bool            // moves to the first entry
	Last() bool             // moves to the last entry
	SeekGE(key []byte) bool // moves to the first entry whose key is ≥ key, which may be a part of Key
	SeekLT(key []byte) bool // moves to the last entry whose key is < key, which may be a part of Key
	Next() bool             // moves to the next entry
	Prev() bool             // moves to the entry before

	Valid() bool   // whether it is at an entry
	Key() []byte   // the entry's key: valid until the next move, not to be changed; nil if there is no entry
	Value() []byte // the entry's value, as Key
	Error() error  // why the last move failed; nil if it found an entry, the end or the start

	Close() error // releases what it holds and returns Error; moves are ErrClosed from then on
}

// place is where an iterator stands that moves others.
type place struct {
	at  position
	err error // why it is lost
}

type position int8

const (
	beforeFirst position = iota
	atEntry
	afterLast
	lost // a move failed, or panicked
	closed
)

// closedPlace is the place of a closed iterator.
var closedPlace = place{at: closed, err: ErrClosed}

// Valid reports whether the iterator is at an entry.
func (p *place) Valid() bool { return p.at == atEntry }

// Error returns why the last move failed, or nil if it found an entry, the end or the
// start.
func (p *place) Error() error {
	if p.at == lost && p.err == nil {
		return errPanicked
	}
	return p.err
}

// depart begins a move from anywhere, and reports false if there are no more moves.
func (p *place) depart() bool {
	if p.at == closed {
		return false
	}
	p.at, p.err = lost, nil
	return true
}

// arrive ends a move at an entry.
func (p *place) arrive() bool {
	p.at = atEntry
	return true
}

// leave ends a move before the first entry or after the last.
func (p *place) leave(at position) bool {
	p.at = at
	return false
}

// fail ends a move with an error.
func (p *place) fail(err error) bool {
	p.at, p.err = lost, err
	return false
}

// closeIterator closes it and returns what went wrong in that: not what Error has
// already told.
func closeIterator(it Iterator) error {
	told := it.Error()
	if err := it.Close(); told == nil {
		return err
	}
	return nil
}
