package extern

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// A record is sorted as bytes:
//
//	number in the input   u64le
//	length of the key     u32le, with the flags below
//	key                   all of it, or its first bytes
//	value                 all of it, or where key and value are in the spill file
//
// What is large goes to the spill file, so that a chunk of records takes a bounded
// amount of memory.
type record []byte

const (
	headerLen = 12

	spilled = 1 << 31 // in the length of the key
	cut     = 1 << 30 // the record has the key's first bytes alone
	flags   = spilled | cut

	maxPair = 1 << 30 // more than a table takes
)

// keyInline is how many bytes of a key that is cut a record has: what a place leaves.
func (s *sorter) keyInline() int { return s.inline - placeLen - s.o.Suffix }

// encode makes a record of a pair.
func (s *sorter) encode(p input.Pair) (record, error) {
	if len(p.Key)+len(p.Value) > maxPair {
		return nil, fmt.Errorf("pair %d of the input has %d bytes, want at most %d", s.number+1, len(p.Key)+len(p.Value), maxPair)
	}
	number, length := s.number, uint32(len(p.Key))
	s.number++
	if len(p.Key)+len(p.Value) <= s.inline {
		return s.record(number, length, p.Key, p.Value), nil
	}
	place, err := s.spill.write(s.o.Dir, p.Key, p.Value)
	if err != nil {
		return nil, err
	}
	if most := s.keyInline(); len(p.Key)-s.o.Suffix > most {
		err := s.spill.flush() // it may be compared at once
		return s.record(number, uint32(most)|spilled|cut, p.Key[:most], place[:]), err
	}
	return s.record(number, length|spilled, p.Key, place[:]), nil
}

// record returns one of these fields.
func (s *sorter) record(number uint64, length uint32, key, value []byte) record {
	n := headerLen + len(key) + len(value)
	if n > len(s.slab) {
		s.slab = make([]byte, slabLen)
	}
	b := s.slab[:0:n]
	s.slab = s.slab[n:]
	b = binary.LittleEndian.AppendUint64(b, number)
	b = binary.LittleEndian.AppendUint32(b, length)
	return append(append(b, key...), value...)
}

// decode makes a Record of a record.
func (s *sorter) decode(r record) (_ Record, err error) {
	whole := Record{Key: r.key(), Number: r.number(), value: r.value()}
	if r.is(spilled) {
		whole.spill = &s.spill
	}
	if r.is(cut) {
		whole.Key, err = s.spill.key(r.value())
	}
	return whole, err
}

func (r record) number() uint64      { return binary.LittleEndian.Uint64(r) }
func (r record) is(flag uint32) bool { return r.length()&flag != 0 }
func (r record) length() uint32      { return binary.LittleEndian.Uint32(r[8:]) }
func (r record) keyEnd() uint32      { return headerLen + r.length()&^flags }
func (r record) key() []byte         { return r[headerLen:r.keyEnd():r.keyEnd()] }
func (r record) value() []byte       { return r[r.keyEnd():] }

// compare orders records by key, and then by number.
func (s *sorter) compare(a, b record) int {
	order := 0
	if a.is(cut) || b.is(cut) {
		order = s.compareCut(a, b)
	} else {
		order = s.o.Compare(a.key(), b.key())
	}
	if order == 0 {
		order = cmp.Compare(a.number(), b.number())
	}
	return order
}

// compareCut compares keys by their first bytes and, where these are the same or do not
// tell, by all.
func (s *sorter) compareCut(a, b record) int {
	if s.o.Whole {
		return s.o.Compare(s.whole(a), s.whole(b))
	}
	if order := bytes.Compare(s.start(a), s.start(b)); order != 0 {
		return order
	}
	return s.o.Compare(s.whole(a), s.whole(b))
}

// start is the first bytes of a key's part that is in the bytewise order, no more than of
// one that is cut.
func (s *sorter) start(r record) []byte {
	if r.is(cut) {
		return r.key()
	}
	key := r.key()[:max(0, len(r.key())-s.o.Suffix)]
	return key[:min(len(key), s.keyInline())]
}

// whole is the key. The library wants a panic of what cannot be compared, and makes an
// error of it.
func (s *sorter) whole(r record) []byte {
	if !r.is(cut) {
		return r.key()
	}
	key, err := s.spill.key(r.value())
	if err != nil {
		panic(err)
	}
	return key
}
