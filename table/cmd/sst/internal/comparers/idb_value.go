package comparers

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// The types of the keys that IndexedDB has for entries: a byte, and what follows it.
const (
	typeNull   = 0
	typeString = 1 // as fieldString
	typeDate   = 2 // a double, little-endian
	typeNumber = 3 // likewise
	typeArray  = 4 // how many keys, and these
	typeMin    = 5
	typeBinary = 6 // its length, and the bytes
)

// typeRanks are the places of the types in the order. A null stands for the last key.
var typeRanks = [...]int{typeMin: 0, typeNumber: 1, typeDate: 2, typeString: 3, typeBinary: 4, typeArray: 5, typeNull: 6}

// maxArrayDepth is how deep arrays may be in one another, as in Chromium.
const maxArrayDepth = 2000

// skipValue takes an entry's key off, which may be of arrays depth deep.
func (r *idbReader) skipValue(depth int) {
	switch r.byte() {
	case typeNull, typeMin:
	case typeString:
		r.string(2)
	case typeBinary:
		r.string(1)
	case typeDate, typeNumber:
		r.bad = math.IsNaN(r.double()) || r.bad
	case typeArray:
		r.bad = r.bad || depth == 0
		for n := r.number(); n > 0 && !r.bad; n-- {
			r.skipValue(depth - 1)
		}
	default:
		r.bad = true
	}
}

func (r *idbReader) double() float64 {
	var whole [8]byte
	copy(whole[:], r.take(8))
	return math.Float64frombits(binary.LittleEndian.Uint64(whole[:]))
}

// compareValue compares two keys of entries, which are sound.
func compareValue(a, b *idbReader) int {
	kind, other := a.byte(), b.byte()
	if kind != other {
		return cmp.Compare(typeRanks[kind], typeRanks[other])
	}
	switch kind {
	case typeString:
		return bytes.Compare(a.string(2), b.string(2))
	case typeBinary:
		return bytes.Compare(a.string(1), b.string(1))
	case typeDate, typeNumber:
		return cmp.Compare(a.double(), b.double())
	case typeArray:
		return compareArray(a, b)
	}
	return 0
}

// compareArray compares arrays key by key; a shorter one comes first.
func compareArray(a, b *idbReader) int {
	m, n := a.number(), b.number()
	for range min(m, n) {
		if order := compareValue(a, b); order != 0 {
			return order
		}
	}
	return cmp.Compare(m, n)
}
