package block

import "github.com/sievetable/sievetable/internal/rowblock"

// An Iter iterates over the entries of a [Block] in both directions. A new Iter is before the first entry. The zero value
// is an Iter on a Block without entries. An Iter must not be used concurrently, but several Iters can use one Block.
type Iter struct{ it rowblock.Iter }

// NewIter returns an Iter on b, before the first entry.
func (b Block) NewIter() *Iter {
	it := new(Iter)
	it.Reset(b)
	return it
}

// Reset moves the Iter to before the first entry of b. It keeps the Iter's buffers.
func (it *Iter) Reset(b Block) { it.it.Reset(b.b) }

// Len returns the number of entries in the Block.
func (it *Iter) Len() int { return it.it.Len() }

// Valid reports whether the Iter is at an entry.
func (it *Iter) Valid() bool { return it.it.Valid() }

// Key returns the entry's key until the next move, or nil if there is no entry. Do not modify it.
func (it *Iter) Key() []byte { return it.it.Key() }

// Value returns the entry's value, a slice of the Block's data, or nil if there is no entry. Do not modify it.
func (it *Iter) Value() []byte { return it.it.Value() }

// Shared returns the number of bytes that the entry's key shares with the previous key, as the Block stores it.
func (it *Iter) Shared() int { return it.it.Shared() }

// Offset returns the entry's offset in the Block. After the last entry, it returns the offset where the entries end.
func (it *Iter) Offset() int { return it.it.Offset() }

// First moves to the first entry, and returns Valid.
func (it *Iter) First() bool { return it.it.First() }

// Last moves to the last entry, and returns Valid.
func (it *Iter) Last() bool { return it.it.Last() }

// Next moves to the next entry, and returns Valid. Before the first entry, it moves to the first one.
func (it *Iter) Next() bool { return it.it.Next() }

// Prev moves to the previous entry, and returns Valid. After the last entry, it moves to the last one.
func (it *Iter) Prev() bool { return it.it.Prev() }

// SeekGE moves to the first entry >= key, and returns Valid. If there is none, the Iter is after the last entry. key
// may alias Key.
func (it *Iter) SeekGE(key []byte) bool { return it.it.SeekGE(key) }

// SeekLT moves to the last entry < key, and returns Valid. If there is none, the Iter is before the first entry. key
// may alias Key.
func (it *Iter) SeekLT(key []byte) bool { return it.it.SeekLT(key) }
