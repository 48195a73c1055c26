package extern

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// A record is sorted as bytes:
//
//	number in the input   u64le
//	length of the key     u32le, with the flags below
//	key                   all of it, or its first keyInline bytes
//	value                 all of it, or where key and value are in the spill file
//
// What is large goes to the spill file, so that a chunk of records takes a bounded
// amount of memory.
const (
	headerLen = 12
	inline    = 1 << 10 // bytes of key and value from which on the value is spilled
	keyInline = 1 << 9  // bytes of the key that a record has then

	spilled = 1 << 31 // in the length of the key
	cut     = 1 << 30 // the record has the key's first bytes alone
	flags   = spilled | cut
)

// record is one that is taken apart.
type record struct {
	number uint64
	key    []byte // its first bytes, if isCut
	isCut  bool
	value  []byte // a place, if isSpilled

	isSpilled bool
}

func split(b []byte) record {
	length := binary.LittleEndian.Uint32(b[8:])
	end := headerLen + length&^flags
	return record{
		number: binary.LittleEndian.Uint64(b),
		key:    b[headerLen:end:end], isCut: length&cut != 0,
		value: b[end:], isSpilled: length&spilled != 0,
	}
}

// compare orders records by key, and then by number. Of keys that are cut the first
// bytes tell, but for those that have these in common.
func (s *sorter) compare(x, y []byte) int {
	a, b := split(x), split(y)
	order := 0
	if a.isCut || b.isCut {
		order = bytes.Compare(s.start(a), s.start(b))
	}
	if order == 0 {
		order = s.o.Compare(s.whole(a), s.whole(b))
	}
	return cmp.Or(order, cmp.Compare(a.number, b.number))
}

// start is up to keyInline bytes of a key's part that is in the bytewise order.
func (s *sorter) start(r record) []byte {
	if r.isCut {
		return r.key
	}
	key := r.key[:max(0, len(r.key)-s.o.Suffix)]
	return key[:min(len(key), keyInline)]
}

// whole is the key. One that cannot be read ends the sorting, which its order does not
// matter to any more.
func (s *sorter) whole(r record) []byte {
	if !r.isCut {
		return r.key
	}
	key, _, err := s.spill.read(r.value)
	if err != nil {
		panic(err) // which the sorter makes an error of
	}
	return key
}
