package block

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// Get looks one key up in data, the uncompressed contents of a block without
// trailer, and returns its value, a part of data without capacity behind it.
// Unless the order is bytewise, keys are put together and compared within the
// budget; a block that wants more is an error.
//
// It checks what the answer rests on, and not the whole block as [Open] does,
// which takes longer: that the restart point where the search ends is where an
// entry starts, and that the entries from there up to the key are sound. So
// what it finds is in the block. What it does not find may be there if the
// block is damaged elsewhere, or its keys are out of order.
func Get(data []byte, order Order, key []byte, budget *Budget) (value []byte, found bool, err error) {
	parts, err := format.SplitBlock(data)
	if err != nil {
		return nil, false, err
	}
	b := Block{parts: parts, order: order}
	start, err := b.startOf(key)
	if err != nil {
		return nil, false, err
	}
	if order.Func == nil {
		return b.scan(start, key)
	}
	k := getKeys()
	defer k.put()
	k.budget = budget.start()
	e, cmp, err := b.seek(start, key, k)
	budget.end(k.budget)
	if err != nil || cmp != 0 {
		return nil, false, err
	}
	return b.parts.Entries[e.Value:e.End:e.End], true, nil
}

// SeekGE returns the first entry of data whose key is ≥ key, if there is
// one: its value as Get does, and its key, which is a part of data too, or in memory
// of its own if it shares bytes. It checks what Get does, and puts keys together in
// any order.
func SeekGE(data []byte, order Order, key []byte, budget *Budget) (at, value []byte, found bool, err error) {
	parts, err := format.SplitBlock(data)
	if err != nil {
		return nil, nil, false, err
	}
	b := Block{parts: parts, order: order}
	start, err := b.startOf(key)
	if err != nil {
		return nil, nil, false, err
	}
	k := getKeys()
	defer k.put()
	k.budget = budget.start()
	defer func() { budget.end(k.budget) }()
	e, cmp, err := b.seek(start, key, k)
	if err != nil || cmp < 0 {
		return nil, nil, false, err
	}
	at = k.last.bytes
	if k.last.inBuf {
		if k.budget.Memory -= len(at); k.budget.Memory < 0 {
			return nil, nil, false, fmt.Errorf("a key of %d bytes that shares some: memory for such keys is bounded", len(at))
		}
		at = slices.Clip(bytes.Clone(at))
	}
	return at, b.parts.Entries[e.Value:e.End:e.End], true, nil
}

// startOf returns where the scan for key starts: at the last restart point
// whose key is not above it.
func (b *Block) startOf(key []byte) (int, error) {
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
	return b.parts.Restart(low), b.checkRestart(low)
}

// restartKey returns the key at restart point i.
func (b *Block) restartKey(i int) ([]byte, error) {
	off := uint32(b.parts.Restart(i)) // unchecked, and so perhaps negative on 32 bits
	if uint64(off) >= uint64(len(b.parts.Entries)) {
		return nil, fmt.Errorf("restart point %d is %d, want it within %d bytes of entries", i, off, len(b.parts.Entries))
	}
	e, err := format.DecodeEntry(b.parts.Entries, int(off))
	if err != nil {
		return nil, err
	}
	if e.Shared > 0 {
		return nil, fmt.Errorf("entry at %d shares %d bytes at a restart point, want none", off, e.Shared)
	}
	return b.parts.Entries[e.Key:e.Value], nil
}

// checkRestart checks that restart point i is where an entry starts, the first
// one where the first entry does.
func (b *Block) checkRestart(i int) error {
	want := uint32(b.parts.Restart(i))
	off := 0
	for i > 0 && uint64(off) < uint64(want) {
		e, err := format.DecodeEntry(b.parts.Entries, off)
		if err != nil {
			return err
		}
		off = e.End
	}
	if uint64(off) != uint64(want) {
		return fmt.Errorf("restart point %d is %d, want %d, where an entry starts", i, want, off)
	}
	return nil
}

// scan looks for key from the restart point at start on. It puts no key
// together: of the last one, it knows how long it is and how much of key it
// starts with.
func (b *Block) scan(start int, key []byte) (value []byte, found bool, err error) {
	length, match := 0, 0
	for off := start; off < len(b.parts.Entries); {
		e, err := format.DecodeEntry(b.parts.Entries, off)
		if err != nil {
			return nil, false, err
		}
		if e.Shared > uint64(length) {
			return nil, false, e.SharesTooMuch(off, length)
		}
		shared := int(e.Shared)
		length = shared + e.Value - e.Key
		if shared <= match { // else the byte that put the last key below is shared
			var order int
			switch match, order = orderFrom(shared, b.parts.Entries[e.Key:e.Value], key); {
			case order == 0:
				return b.parts.Entries[e.Value:e.End:e.End], true, nil
			case order > 0:
				return nil, false, nil
			}
		}
		off = e.End
	}
	return nil, false, nil
}

// seek looks for the first entry whose key is not below key, from the restart
// point at start on, and leaves that in k. It returns how the two compare: order is
// negative if all keys are below, and there is no entry.
func (b *Block) seek(start int, key []byte, k *keys) (e format.Entry, order int, err error) {
	match := 0 // bytes that the last key and key start with in common
	for off := start; off < len(b.parts.Entries); off = e.End {
		if e, err = format.DecodeEntry(b.parts.Entries, off); err != nil {
			return e, -1, err
		}
		if err := k.next(off, e, b.parts.Entries[e.Key:e.Value]); err != nil {
			return e, -1, err
		}
		this := k.last.bytes
		skip := b.order.skippable(min(int(e.Shared), match), len(this), len(key))
		if !b.order.Bytewise() {
			if err := k.spend(off, len(this)); err != nil {
				return e, -1, err
			}
		}
		if order = b.order.Compare(this[skip:], key[skip:]); order >= 0 {
			return e, order, nil
		}
		match = skip + wire.SharedLen(this[skip:], key[skip:])
	}
	return e, -1, nil
}
