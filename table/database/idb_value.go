package database

import (
	"bytes"
	"cmp"
	"math"
)

// The types of IndexedDB keys. A key starts with its type.
const (
	typeNull   = 0
	typeString = 1 // like fieldString
	typeDate   = 2 // a double, little-endian
	typeNumber = 3 // a double, little-endian
	typeArray  = 4 // the number of keys, then the keys
	typeMin    = 5
	typeBinary = 6 // the length, then the bytes
)

// typeRanks is the order of the types. A null comes after all other keys.
var typeRanks = [...]int{typeMin: 0, typeNumber: 1, typeDate: 2, typeString: 3, typeBinary: 4, typeArray: 5, typeNull: 6}

// maxArrayDepth limits how deeply arrays are nested, as in Chromium.
const maxArrayDepth = 2000

// skipValue reads an IndexedDB key. Arrays in it may be nested depth levels deep.
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

func (r *idbReader) double() float64 { return math.Float64frombits(r.fixed(8)) }

// compareValue compares two IndexedDB keys that are well-formed.
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

// compareArray compares arrays key by key. A prefix of an array comes before the array.
func compareArray(a, b *idbReader) int {
	m, n := a.number(), b.number()
	for range min(m, n) {
		if order := compareValue(a, b); order != 0 {
			return order
		}
	}
	return cmp.Compare(m, n)
}
