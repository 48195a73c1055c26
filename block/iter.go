package block

import "github.com/sievetable/sievetable/internal/rowblock"

// An Iter moves over the entries of a [Block], in both directions. A new Iter is before
// the first entry, and Next moves to that. First, Last, Next, Prev, SeekGE and SeekLT are
// its moves: each returns whether the Iter is at an entry then, as Valid does.
//
// One goroutine at a time may use an Iter. Any number of Iters may be on one Block. The
// zero value is an Iter on a Block without entries; Reset gives
// it another.
type Iter struct{ it rowblock.Iter }

// NewIter returns an Iter on b, before the first entry.
func (b Block) NewIter() *Iter {
	it := new(Iter)
	it.Reset(b)
	return it
}

// Reset moves the Iter to before the first entry of b. It keeps the Iter's buffers.
func (it *Iter) Reset(b Block) { it.it.Reset(b.b) }

// Len returns the number of entries of the Block.
func (it *Iter) Len() int { return it.it.Len() }

// Valid reports whether the Iter is at an entry.
func (it *Iter) Valid() bool { return it.it.Valid() }

// Key returns the entry's key, or nil if there is no entry. It is valid until the next
// move. The caller must not change it.
func (it *Iter) Key() []byte { return it.it.Key() }

// Value returns the entry's value, or nil if there is no entry. It is a part of the Block,
// and valid as long as that. The caller must not change it.
func (it *Iter) Value() []byte { return it.it.Value() }

// Shared returns how many bytes the entry's key shares with the key before. The Block
// does not store them a second time.
func (it *Iter) Shared() int { return it.it.Shared() }

// Offset returns the entry's offset in the Block, in bytes. After the last entry, it returns the offset of its end.
func (it *Iter) Offset() int { return it.it.Offset() }

// First moves to the first entry, and returns Valid.
func (it *Iter) First() bool { return it.it.First() }

// Last moves to the last entry, and returns Valid.
func (it *Iter) Last() bool { return it.it.Last() }

// Next moves to the next entry, and returns Valid. Before the first entry it moves to the
// first one. At the last entry it moves to after it.
func (it *Iter) Next() bool { return it.it.Next() }

// Prev moves to the entry before, and returns Valid. After the last entry it moves to the
// last one. At the first entry it moves to before it.
func (it *Iter) Prev() bool { return it.it.Prev() }

// SeekGE moves to the first entry whose key is >= key, and returns Valid. If there is none,
// it moves to after the last entry. key may be a part of Key.
func (it *Iter) SeekGE(key []byte) bool { return it.it.SeekGE(key) }

// SeekLT moves to the last entry whose key is < key, and returns Valid. If there is none,
// it moves to before the first entry. key may be a part of Key.
func (it *Iter) SeekLT(key []byte) bool { return it.it.SeekLT(key) }
