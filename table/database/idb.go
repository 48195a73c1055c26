package database

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/sievetable/sievetable/table"
)

// IDBComparer is the order of Chromium's IndexedDB, named idb_cmp1. Keys of different bytes can be equal, such as for
// 0 and -0. Malformed keys come last, in bytewise order.
var IDBComparer table.Comparer = idbComparer{}

// An idbComparer compares keys field by field (content/browser/indexed_db, indexed_db_leveldb_coding.cc). A key
// starts with the numbers of a database, an object store and an index, whose lengths are in the first byte. These
// determine the rest:
//
//	0, …           global metadata: a byte for the kind, and its fields
//	database, 0, … metadata of the database: a byte for the kind, and its fields
//	…, 1, 2 or 3   an entry of the store, its existence, or its blobs: the entry's key
//	…, from 30 on  an entry of an index: its key there, a sequence number, its own key
type idbComparer struct{}

func (idbComparer) Name() string                    { return "idb_cmp1" }
func (idbComparer) Separator(_, _, _ []byte) []byte { return nil } // Chromium does not shorten keys either
func (idbComparer) Successor(_, _ []byte) []byte    { return nil }

func (idbComparer) Compare(a, b []byte) int {
	x, xOK := parseIDB(a)
	y, yOK := parseIDB(b)
	switch {
	case !xOK && !yOK:
		return bytes.Compare(a, b)
	case !xOK:
		return 1
	case !yOK:
		return -1
	}
	if order := cmp.Or(cmp.Compare(x.database, y.database), cmp.Compare(x.store, y.store), cmp.Compare(x.index, y.index), cmp.Compare(x.kind, y.kind)); order != 0 {
		return order
	}
	for i := range len(x.fields) { // both keys have the same kind, so they have the same fields
		if order := compareField(x.fields[i], &x.rest, &y.rest); order != 0 {
			return order
		}
	}
	return 0
}

// An idbKey is a key with its prefix and its kind parsed.
type idbKey struct {
	database, store, index uint64
	kind                   byte   // the kind of a metadata key
	fields                 string // the types of the fields, one letter each
	rest                   idbReader
}

// The types of the fields after a prefix.
const (
	fieldByte     = 'b'
	fieldNumber   = 'n' // a varint
	fieldString   = 's' // the number of UTF-16 code units, then the code units, big-endian
	fieldRaw      = 'r' // the rest of the key
	fieldEntry    = 'e' // the key of an entry; a missing one comes first
	fieldIndexKey = 'i' // the keys of an index entry; a missing one comes first
)

// globalFields and databaseFields are the fields of metadata keys, by kind.
var (
	globalFields = map[byte]string{
		0: "", 1: "", 2: "", 3: "", 4: "", 5: "", 6: "",
		50:  "r",  // of scopes
		100: "n",  // a free database
		201: "ss", // origin and name of a database
	}
	databaseFields = map[byte]string{
		0: "", 1: "", 2: "", 3: "", 4: "", 5: "",
		50:  "nb",  // store, and kind of its metadata
		100: "nnb", // store, index, and kind of its metadata
		150: "n",   // a free store
		151: "nn",  // a free index
		200: "s",   // the name of a store
		201: "ns",  // store, and the name of an index
	}
)

// Index numbers below firstIndex have special meanings.
const (
	lastStoreIndex = 3 // 1: entries, 2: whether they exist, 3: their blobs
	firstIndex     = 30
)

// parseIDB parses a key and checks all of its fields.
func parseIDB(key []byte) (k idbKey, ok bool) {
	r := idbReader{rest: key}
	lengths := r.byte()
	k.database, k.store, k.index = r.fixedNumber(int(lengths>>5)+1), r.fixedNumber(int(lengths>>2&7)+1), r.fixedNumber(int(lengths&3)+1)
	ok = true
	switch {
	case k.database == 0:
		k.kind = r.byte()
		k.fields, ok = globalFields[k.kind]
	case k.store == 0:
		k.kind = r.byte()
		k.fields, ok = databaseFields[k.kind]
	case k.index >= 1 && k.index <= lastStoreIndex:
		k.fields = "e"
	case k.index >= firstIndex:
		k.fields = "i"
	default:
		ok = false
	}
	k.rest = r
	for i := 0; i < len(k.fields) && !r.bad; i++ {
		r.skip(k.fields[i])
	}
	return k, ok && !r.bad && len(r.rest) == 0
}

func compareField(field byte, a, b *idbReader) int {
	switch field {
	case fieldByte:
		return cmp.Compare(a.byte(), b.byte())
	case fieldNumber:
		return cmp.Compare(a.number(), b.number())
	case fieldString:
		return bytes.Compare(a.string(2), b.string(2))
	case fieldEntry, fieldIndexKey:
		if len(a.rest) == 0 || len(b.rest) == 0 {
			return cmp.Compare(len(a.rest), len(b.rest))
		}
		if order := compareValue(a, b); order != 0 || field == fieldEntry {
			return order
		}
		return compareEntryOfIndex(a, b)
	}
	return bytes.Compare(a.rest, b.rest)
}

// compareEntryOfIndex compares the fields after the index key. The sequence number comes first, but it is compared
// last, and only if both primary keys are there.
func compareEntryOfIndex(a, b *idbReader) int {
	x, y := a.number(), b.number() // 0 at the end of the key
	if len(a.rest) == 0 || len(b.rest) == 0 {
		return cmp.Compare(len(a.rest), len(b.rest))
	}
	return cmp.Or(compareValue(a, b), cmp.Compare(x, y))
}

// An idbReader reads fields from the start of rest. bad is set if a field is malformed or
// missing.
type idbReader struct {
	rest []byte
	bad  bool
}

// take reads n bytes.
func (r *idbReader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *idbReader) byte() byte {
	if b := r.take(1); len(b) > 0 {
		return b[0]
	}
	return 0
}

// fixed reads a little-endian number of n bytes.
func (r *idbReader) fixed(n int) uint64 {
	var whole [8]byte
	copy(whole[:], r.take(uint64(n)))
	return binary.LittleEndian.Uint64(whole[:])
}

// fixedNumber is fixed for an int64.
func (r *idbReader) fixedNumber(n int) uint64 { return r.checkSigned(r.fixed(n)) }

// number reads a varint.
func (r *idbReader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, n = true, len(r.rest)
	}
	r.rest = r.rest[n:]
	return r.checkSigned(v)
}

// checkSigned sets bad if v does not fit into an int64, as Chromium requires.
func (r *idbReader) checkSigned(v uint64) uint64 {
	r.bad = r.bad || v >= 1<<63
	return v
}

// string reads a length and as many units of unit bytes.
func (r *idbReader) string(unit uint64) []byte {
	return r.take(r.number() * unit) // if the product does not fit into 64 bits, number has set bad
}

// skip reads a field of this type.
func (r *idbReader) skip(field byte) {
	switch field {
	case fieldByte:
		r.byte()
	case fieldNumber:
		r.number()
	case fieldString:
		r.string(2)
	case fieldRaw:
		r.rest = nil
	case fieldEntry, fieldIndexKey:
		if len(r.rest) > 0 {
			r.skipValue(maxArrayDepth)
		}
		if field == fieldIndexKey && len(r.rest) > 0 {
			if r.number(); len(r.rest) > 0 {
				r.skipValue(maxArrayDepth)
			}
		}
	}
}

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

// maxArrayDepth limits the nesting of arrays, as in Chromium.
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
	case typeArray: // a prefix of an array comes before the array
		m, n := a.number(), b.number()
		for range min(m, n) {
			if order := compareValue(a, b); order != 0 {
				return order
			}
		}
		return cmp.Compare(m, n)
	}
	return 0
}
