package rowblock

import (
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
)

// A Place says where a key belongs in a block.
type Place uint8

const (
	Between Place = iota // between two keys
	Found                // the block contains it
	Outside              // before the first key or after the last one; in an order with a Func, maybe between two keys
)

// Get returns the value of key in data, and the place of key. data is an uncompressed block without its trailer. The
// value is a part of data, and its capacity equals its length.
//
// Get is faster than Open, which checks the whole block. It checks only the last restart point at or before key, and
// the entries from there to key. A key that it finds is in the block. It may miss a key if the block is corrupt
// elsewhere or its keys are out of order. If Get comes across corruption, it returns an error.
//
// If the order has a Func, the budget bounds the work on keys. If a block exceeds it, Get returns an error. Without a
// Func, the budget can be nil.
func Get(data []byte, order Order, key []byte, budget *Budget) (value []byte, at Place, err error) {
	b, start, err := openAt(key, data, order)
	if err != nil {
		return nil, Between, err
	}
	if order.Func != nil {
		return b.getOrdered(start, key, budget)
	}
	return getBytewise(b.parts.Entries, start, key)
}

// GetChecked is like Get in the bytewise order, for a block that Walk has found sound, and reports whether data contains
// key. It reads no entry before the restart point, so large blocks do not take longer.
func GetChecked(data []byte, key []byte) (value []byte, found bool, err error) {
	parts, err := format.SplitBlock(data)
	if err != nil {
		return nil, false, err
	}
	b := Block{parts: parts}
	i, err := b.lastRestart(key)
	if err != nil {
		return nil, false, err
	}
	start := uint64(uint32(parts.Restart(i)))
	value, at, err := getBytewise(parts.Entries, int(min(start, uint64(len(parts.Entries)))), key) // a mapped file can change
	return value, at == Found, err
}

// getBytewise is Get from the restart point at start on, in the bytewise order. It rebuilds no keys. Instead it
// tracks the length of the last key, which is < key, and match, the number of bytes that both share.
func getBytewise(entries []byte, start int, key []byte) (value []byte, at Place, err error) {
	length, match := 0, 0
	if at = Between; start == 0 {
		at = Outside // unless the first key is < key
	}
	for off := start; off < len(entries); {
		e, err := format.DecodeEntry(entries, off)
		if err != nil {
			return nil, Between, err
		}
		if e.Shared > uint64(length) {
			return nil, Between, e.SharesTooMuch(off, length)
		}
		off = e.End
		shared, unshared := int(e.Shared), entries[e.Key:e.Value]
		length = shared + len(unshared)
		if shared > match { // it shares the byte that makes the last key < key
			continue
		}
		match = shared + format.SharedLen(unshared, key[shared:])
		switch {
		case match == length && match == len(key):
			return entries[e.Value:e.End:e.End], Found, nil
		// It is > key.
		case match == len(key) || match < length && unshared[match-shared] > key[match]:
			return nil, at, nil
		}
		at = Between
	}
	return nil, Outside, nil
}

// getOrdered is Get from the restart point at start on, in an order with a Func.
func (b *Block) getOrdered(start int, key []byte, budget *Budget) (value []byte, at Place, err error) {
	d := getKeyDecoder()
	defer d.put()
	d.budget = *budget
	e, cmp, err := b.seekGE(start, key, d)
	*budget = d.budget
	if err != nil || cmp != 0 {
		return nil, Outside, err
	}
	return b.parts.Entries[e.Value:e.End:e.End], Found, nil
}

// SeekGE returns the first entry of data whose key is ≥ key, and whether there is one. data is as for Get, and
// SeekGE checks as much of it. The value is a part of data. So is entryKey, unless it shares bytes with the key
// before: then it is a copy that overwrites *buf. If the capacity of *buf does not suffice, SeekGE allocates a
// larger buffer, which counts against the budget. The capacities of both slices equal their lengths.
//
// The budget bounds the work on keys in every order. If a block exceeds it, SeekGE returns an error.
func SeekGE(buf *[]byte, data []byte, order Order, key []byte, budget *Budget) (entryKey, value []byte, found bool, err error) {
	b, start, err := openAt(key, data, order)
	if err != nil {
		return nil, nil, false, err
	}
	d := getKeyDecoder()
	defer d.put()
	d.budget = *budget
	defer func() { *budget = d.budget }()
	e, cmp, err := b.seekGE(start, key, d)
	if err != nil || cmp < 0 {
		return nil, nil, false, err
	}
	entryKey = d.last.Key
	if d.last.InBuf {
		if entryKey, err = d.copyKey(*buf); err != nil {
			return nil, nil, false, err
		}
		*buf = entryKey
	}
	return slices.Clip(entryKey), b.parts.Entries[e.Value:e.End:e.End], true, nil
}

// openAt returns the unchecked block, and the offset of the last restart point whose key is ≤ key, or of the first
// one if there is none. The search for key starts there.
func openAt(key, data []byte, order Order) (b Block, start int, err error) {
	b.order = order
	if b.parts, err = format.SplitBlock(data); err != nil {
		return b, 0, err
	}
	i, err := b.lastRestart(key)
	if err == nil {
		start, err = b.checkedRestart(i)
	}
	return b, start, err
}

// lastRestart returns the number of the last restart point whose key is ≤ key, or 0 if there is none.
func (b *Block) lastRestart(key []byte) (int, error) {
	low, high := 0, b.parts.NumRestarts()
	for low+1 < high {
		mid := int(uint(low+high) >> 1)
		k, err := b.restartKey(mid)
		if err != nil {
			return 0, err
		}
		if b.order.Compare(k, key) <= 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

// restartKey returns the key at restart point i of an unchecked block.
func (b *Block) restartKey(i int) ([]byte, error) {
	off := uint32(b.parts.Restart(i)) // if corrupt, negative as a 32-bit int
	if uint64(off) >= uint64(len(b.parts.Entries)) {
		return nil, fmt.Errorf("restart point %d is %d, outside the %d bytes of entries", i, off, len(b.parts.Entries))
	}
	e, err := format.DecodeEntry(b.parts.Entries, int(off))
	if err != nil {
		return nil, err
	}
	if e.Shared > 0 {
		return nil, fmt.Errorf("entry at %d shares %d bytes at a restart point", off, e.Shared)
	}
	return b.parts.Entries[e.Key:e.Value], nil
}

// checkedRestart returns the offset of restart point i, and checks that an entry starts there. Restart point 0 must
// be at 0. It reads the offset only once, because it can change in a mapped file.
func (b *Block) checkedRestart(i int) (int, error) {
	want := uint32(b.parts.Restart(i))
	off := 0
	for i > 0 && uint64(off) < uint64(want) {
		e, err := format.DecodeEntry(b.parts.Entries, off)
		if err != nil {
			return 0, err
		}
		off = e.End
	}
	if uint64(off) != uint64(want) {
		return 0, fmt.Errorf("restart point %d is %d, but an entry starts at %d", i, want, off)
	}
	return off, nil
}

// seekGE returns the first entry whose key is ≥ key, from the restart point at start on, and leaves the entry's key
// in d.last. order is the result of comparing it with key: 0 or positive. If all keys are < key, order is negative
// and there is no entry.
func (b *Block) seekGE(start int, key []byte, d *keyDecoder) (e format.Entry, order int, err error) {
	match := 0 // number of bytes that the last key and key share
	for off := start; off < len(b.parts.Entries); off = e.End {
		if e, err = format.DecodeEntry(b.parts.Entries, off); err != nil {
			return e, -1, err
		}
		if err := d.next(off, e, b.parts.Entries[e.Key:e.Value]); err != nil {
			return e, -1, err
		}
		this := d.last.Key
		skip := b.order.skippable(min(int(e.Shared), match), len(this), len(key))
		if !b.order.Bytewise() {
			if err := d.spend(off, len(this)); err != nil {
				return e, -1, err
			}
		}
		if order = b.order.Compare(this[skip:], key[skip:]); order >= 0 {
			return e, order, nil
		}
		match = skip + format.SharedLen(this[skip:], key[skip:])
	}
	return e, -1, nil
}
