package block

// back is how an Iter got to its entry from those before it, in the order of
// the block: the way back for Prev. Without it, each Prev would read again from
// the restart point on.
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

// readUpTo moves to the entry that ends at target, and keeps the last part of
// the way. It may be long, if restart points are far apart: what is kept is
// bounded, and such that a block is read back in a bounded number of parts.
func (it *Iter) readUpTo(target int) {
	room := max(4096, len(it.b.entries)/64)
	for it.next < target {
		if it.Valid() && it.off >= target-room {
			it.keep(room)
		}
		it.read()
	}
}

// keep keeps the step to the entry from the one that is next.
func (it *Iter) keep(room int) {
	shared, _ := uvarint(it.b.entries, it.next)
	var cut []byte
	if last := &it.keys.last; last.inBuf {
		cut = last.bytes[shared:]
	}
	if len(it.back.cut)+len(cut) > room {
		it.back.reset()
		return
	}
	it.back.cut = append(it.back.cut, cut...)
	it.back.steps = append(it.back.steps, step{uint32(it.off), uint32(shared), uint32(len(cut))})
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
