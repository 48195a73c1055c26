package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// The key of a run is a user's key, and then its number and two flags as a big-endian integer. Of a long key only
// the beginning is there, with the place of the pair in the spill file.
const (
	numberLen = 8
	isSpilled = 1 // the value is the place of the pair in the spill file
	isCut     = 2 // the key is cut, and ends in that place
)

func numberOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-numberLen:]) }

// A runOrder is the order of the keys of runs: that of the users' keys, and then of their numbers.
type runOrder struct {
	s        *Sorter
	suffix   int  // length of a suffix of each key that is not in bytewise order
	bytewise bool // what comes before it is
}

// Name returns a name that no database has.
func (runOrder) Name() string { return "sievetable.sorter" }

// Compare compares two keys.
func (o runOrder) Compare(a, b []byte) int {
	x, y := numberOf(a), numberOf(b)
	order := 0
	if (x|y)&isCut == 0 {
		order = o.s.Comparer.Compare(a[:len(a)-numberLen], b[:len(b)-numberLen])
	} else if o.bytewise {
		order = bytes.Compare(o.prefix(a), o.prefix(b))
	}
	if order == 0 && (x|y)&isCut != 0 {
		order = o.s.Comparer.Compare(o.whole(a), o.whole(b))
	}
	return cmp.Or(order, cmp.Compare(x>>2, y>>2))
}

// prefix returns what is in bytewise order of a key, but of a long one only as much as a cut key has.
func (o runOrder) prefix(key []byte) []byte {
	n, end := numberOf(key), len(key)-numberLen
	if n&isCut != 0 {
		return key[:end-placeLen]
	}
	end = max(0, end-o.suffix)
	return key[:min(end, o.s.cutLen())]
}

// whole returns the user's key. If it cannot be read, sorting fails, and the order does not matter any more.
func (o runOrder) whole(key []byte) []byte {
	end := len(key) - numberLen
	if numberOf(key)&isCut == 0 {
		return key[:end]
	}
	whole, err := o.s.spill.key(key[end-placeLen : end])
	if err != nil {
		o.s.fail(err)
		return key[:end]
	}
	return whole
}

// Separator returns a short key from a to below b, so that the index of a run is small.
func (o runOrder) Separator(dst, a, b []byte) []byte {
	if !o.bytewise {
		return nil
	}
	p, q := o.prefix(a), o.prefix(b)
	n := 0
	for n < len(p) && n < len(q) && p[n] == q[n] {
		n++
	}
	if o.suffix > 0 || n >= len(q) || n+1 >= len(q) {
		return nil
	}
	return append(append(dst, q[:n+1]...), make([]byte, numberLen)...)
}

// Successor returns nil: the last key of a run does.
func (runOrder) Successor(_, _ []byte) []byte { return nil }
