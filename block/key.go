package block

import "slices"

// key rebuilds the keys of consecutive entries. What entries share is not
// copied again from one to the next: it can be far longer than the entries.
type key struct {
	bytes []byte // the key: in the block, if the entry shares nothing; else in buf
	buf   []byte
	inBuf bool
}

// next moves to the key of the next entry, which shares that many bytes with
// this one.
func (k *key) next(shared int, unshared []byte) {
	if shared == 0 {
		k.bytes, k.inBuf = unshared[:len(unshared):len(unshared)], false
		return
	}
	if !k.inBuf {
		k.buf = append(slices.Grow(k.buf[:0], shared+len(unshared)), k.bytes[:shared]...)
	}
	k.buf = append(k.buf[:shared], unshared...)
	k.bytes, k.inBuf = k.buf[:len(k.buf):len(k.buf)], true
}

// reset forgets the key and keeps the memory for others.
func (k *key) reset() {
	k.bytes, k.inBuf = nil, false
}
