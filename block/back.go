package block

import "slices"

// back is how an Iter got to its entry from those before it, in the order of
// the block: the way back for Prev. Without it, each Prev would read again from
// the restart point on.
//
// The way may be long, if restart points are far apart, so only the last part
// of it is kept: bounded by the size of the block, and such that the block is
// read back in a bounded number of parts.
type back struct {
	steps []step
	cut   []byte // of all steps
}

// step leads from an entry to the one before, at off, whose key starts with
// that many bytes of the entry's own, and ends with the last bytes of cut.
type step struct{ off, shared, cut uint32 }

func (k *back) reset() {
	k.steps, k.cut = k.steps[:0], k.cut[:0]
}

// push adds a step, and forgets the oldest ones for it if there are more than
// fit in room, a number of bytes of the block.
func (k *back) push(off, shared int, cut []byte, room int) {
	for len(k.steps) > 0 && (len(k.cut)+len(cut) > room || len(k.steps) >= room/minEntry) {
		k.forget((len(k.steps) + 1) / 2)
	}
	if len(cut) > room {
		return
	}
	k.steps = append(growTo(k.steps, 1, room/minEntry), step{uint32(off), uint32(shared), uint32(len(cut))})
	k.cut = append(growTo(k.cut, len(cut), room), cut...)
}

// minEntry is how many bytes an entry takes: three lengths, and a byte in which
// its key differs from the one before.
const minEntry = 4

// growTo makes room in s for n more, at once for most if it has to grow again.
func growTo[E any](s []E, n, most int) []E {
	if len(s)+n <= cap(s) || len(s) == 0 {
		return s
	}
	return slices.Grow(s, most-len(s))
}

// forget drops the n oldest steps.
func (k *back) forget(n int) {
	cut := 0
	for _, s := range k.steps[:n] {
		cut += int(s.cut)
	}
	k.steps = append(k.steps[:0], k.steps[n:]...)
	k.cut = append(k.cut[:0], k.cut[cut:]...)
}

// backRoom is the part of the block that the way back is kept through.
func (it *Iter) backRoom() int { return max(4096, len(it.b.parts.Entries)/64) }

// readUpTo moves to the entry that ends at target, and keeps the last part of
// the way.
func (it *Iter) readUpTo(target int) {
	from := target - it.backRoom()
	for it.next < target {
		if it.Valid() && it.off >= from {
			it.keepStep()
		}
		it.read()
	}
}

// keepStep keeps the step to the entry from the one that is next.
func (it *Iter) keepStep() {
	shared, _ := uvarint(it.b.parts.Entries, it.next)
	var cut []byte
	if last := &it.keys.last; last.inBuf {
		cut = last.bytes[shared:]
	}
	it.back.push(it.off, shared, cut, it.backRoom())
}

// stepBack takes the last step.
func (it *Iter) stepBack() {
	k := &it.back
	s := k.steps[len(k.steps)-1]
	k.steps = k.steps[:len(k.steps)-1]
	cut := k.cut[len(k.cut)-int(s.cut):]
	k.cut = k.cut[:len(k.cut)-len(cut)]

	last := &it.keys.last
	last.buf = append(last.buf[:s.shared], cut...)
	last.bytes, last.inBuf = last.buf, true
	it.next = int(s.off)
	it.read()
}
