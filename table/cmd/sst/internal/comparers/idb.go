package comparers

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// idbCmp1 is the order of Chromium's IndexedDB (content/browser/indexed_db,
// indexed_db_leveldb_coding.cc). A key starts with the numbers of a database, an object
// store and an index, of lengths that the first byte has. These say what follows:
//
//	0, …           of all databases: a byte for the kind, and fields by that
//	database, 0, … of the database: a byte for the kind, and fields by that
//	…, 1, 2 or 3   an entry of the store, that it exists, and its blobs: the entry's key
//	…, from 30 on  an entry of an index: its key there, a sequence number, its own key
//
// Keys are in the order of all these. What is no such key comes behind those that are,
// bytewise.
var idbCmp1 = namedComparer{flagValue: "idb_cmp1", comparer: idbComparer{}}

type idbComparer struct{}

func (idbComparer) Name() string                    { return "idb_cmp1" }
func (idbComparer) Separator(_, _, _ []byte) []byte { return nil } // as in Chromium
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
	return compareFields(x, y) // of the same kind, and so of the same fields
}

// idbKey is a key whose prefix and kind are taken off.
type idbKey struct {
	database, store, index uint64
	kind                   byte   // of metadata
	fields                 string // a letter each
	rest                   idbReader
}

// The fields that follow a prefix.
const (
	fieldByte     = 'b'
	fieldNumber   = 'n' // a varint
	fieldString   = 's' // its length in UTF-16 units, and these, big-endian
	fieldRaw      = 'r' // all that is left
	fieldEntry    = 'e' // the key of an entry; where nothing is left, before all of them
	fieldIndexKey = 'i' // the keys of an entry of an index; likewise
)

// globalFields and databaseFields are the fields of metadata by kind.
var (
	globalFields = map[byte]string{
		0: "", 1: "", 2: "", 3: "", 4: "", 5: "", 6: "",
		50:  "r",  // of scopes
		100: "n",  // a free database
		201: "ss", // origin and name of a database
	}
	databaseFields = map[byte]string{
		0: "", 1: "", 2: "", 3: "", 4: "", 5: "",
		50:  "nb",  // store, and what of it
		100: "nnb", // store, index, and what of it
		150: "n",   // a free store
		151: "nn",  // a free index
		200: "s",   // the name of a store
		201: "ns",  // store, and the name of an index
	}
)

// The numbers of indexes.
const (
	lastStoreIndex = 3 // entries, that they exist, blobs
	firstIndex     = 30
)

// parseIDB takes a key apart, and checks all of it.
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

// compareFields compares what follows the prefixes of two keys that are of the same
// fields.
func compareFields(x, y idbKey) int {
	a, b := &x.rest, &y.rest
	for i := range len(x.fields) {
		if order := compareField(x.fields[i], a, b); order != 0 {
			return order
		}
	}
	return 0
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

// compareEntryOfIndex compares what follows the key in an index. The sequence number,
// which comes first, decides last, and only where it is not the end.
func compareEntryOfIndex(a, b *idbReader) int {
	x, y := a.optional(), b.optional()
	if len(a.rest) == 0 || len(b.rest) == 0 {
		return cmp.Compare(len(a.rest), len(b.rest))
	}
	return cmp.Or(compareValue(a, b), cmp.Compare(x, y))
}

// idbReader takes fields off the start of rest. It is bad when they are not there.
type idbReader struct {
	rest []byte
	bad  bool
}

// take takes n bytes off.
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
	b := r.take(1)
	if r.bad {
		return 0
	}
	return b[0]
}

// fixedNumber takes a number of n bytes off, little-endian.
func (r *idbReader) fixedNumber(n int) uint64 {
	var whole [8]byte
	copy(whole[:], r.take(uint64(n)))
	return r.checkSigned(binary.LittleEndian.Uint64(whole[:]))
}

// number takes a varint off.
func (r *idbReader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, n = true, len(r.rest)
	}
	r.rest = r.rest[n:]
	return r.checkSigned(v)
}

// optional is number where something is left.
func (r *idbReader) optional() uint64 {
	if len(r.rest) == 0 {
		return 0
	}
	return r.number()
}

// checkSigned checks that a number is one that Chromium has, in 63 bits.
func (r *idbReader) checkSigned(v uint64) uint64 {
	r.bad = r.bad || v >= 1<<63
	return v
}

// string takes a length off, and that many units.
func (r *idbReader) string(unit uint64) []byte {
	n := r.number()
	if n > uint64(len(r.rest))/unit {
		r.bad, r.rest = true, nil
		return nil
	}
	return r.take(n * unit)
}

// skip takes a field off.
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
