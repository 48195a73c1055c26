package sorting

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// A encodedRecord is sorted as bytes:
//
//	number in the input   u64le
//	length of the key     u32le, with the flags below
//	key                   all of it, or its first bytes
//	value                 all of it, or where key and value are in the spill file
//
// What is large goes to the spill file, so that a chunk of records takes a bounded
// amount of memory.
type encodedRecord []byte

const (
	headerLen = 12

	spilled   = 1 << 31 // in the length of the key
	truncated = 1 << 30 // the record has the key's first bytes alone
	flags     = spilled | truncated

	maxPairLen = 1 << 30 // more than a table takes
)

// truncatedKeyLen is how many bytes of a key that is cut a record has: what a place leaves.
func (s *sorter) truncatedKeyLen() int { return s.maxInline - spillRefLen - s.options.SuffixLen }

// encode makes a record of a pair.
func (s *sorter) encode(p input.Pair) (encodedRecord, error) {
	if len(p.Key)+len(p.Value) > maxPairLen {
		return nil, fmt.Errorf("pair %d of the input has %d bytes, want at most %d", s.number+1, len(p.Key)+len(p.Value), maxPairLen)
	}
	number, length := s.number, uint32(len(p.Key))
	s.number++
	if len(p.Key)+len(p.Value) <= s.maxInline {
		return s.newRecord(number, length, p.Key, p.Value), nil
	}
	place, err := s.spill.write(s.options.Dir, p.Key, p.Value)
	if err != nil {
		return nil, err
	}
	if most := s.truncatedKeyLen(); len(p.Key)-s.options.SuffixLen > most {
		err := s.spill.flush() // it may be compared at once
		return s.newRecord(number, uint32(most)|spilled|truncated, p.Key[:most], place[:]), err
	}
	return s.newRecord(number, length|spilled, p.Key, place[:]), nil
}

// newRecord returns one of these fields.
func (s *sorter) newRecord(number uint64, length uint32, key, value []byte) encodedRecord {
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
func (s *sorter) decode(r encodedRecord) (_ Record, err error) {
	whole := Record{Key: r.key(), Number: r.number(), value: r.value()}
	if r.hasFlag(spilled) {
		whole.spillFile = &s.spill
	}
	if r.hasFlag(truncated) {
		whole.Key, err = s.spill.key(r.value())
	}
	return whole, err
}

func (r encodedRecord) number() uint64           { return binary.LittleEndian.Uint64(r) }
func (r encodedRecord) hasFlag(flag uint32) bool { return r.lengthAndFlags()&flag != 0 }
func (r encodedRecord) lengthAndFlags() uint32   { return binary.LittleEndian.Uint32(r[8:]) }
func (r encodedRecord) keyEnd() uint32           { return headerLen + r.lengthAndFlags()&^flags }
func (r encodedRecord) key() []byte              { return r[headerLen:r.keyEnd():r.keyEnd()] }
func (r encodedRecord) value() []byte            { return r[r.keyEnd():] }

// compare orders records by key, and then by number.
func (s *sorter) compare(a, b encodedRecord) int {
	order := 0
	if a.hasFlag(truncated) || b.hasFlag(truncated) {
		order = s.compareTruncated(a, b)
	} else {
		order = s.options.Compare(a.key(), b.key())
	}
	if order == 0 {
		order = cmp.Compare(a.number(), b.number())
	}
	return order
}

// compareTruncated compares keys by their first bytes and, where these are the same or do not
// tell, by all.
func (s *sorter) compareTruncated(a, b encodedRecord) int {
	if s.options.NotBytewise {
		return s.options.Compare(s.wholeKey(a), s.wholeKey(b))
	}
	if order := bytes.Compare(s.keyPrefix(a), s.keyPrefix(b)); order != 0 {
		return order
	}
	return s.options.Compare(s.wholeKey(a), s.wholeKey(b))
}

// keyPrefix is the first bytes of a key's part that is in the bytewise order, no more than of
// one that is cut.
func (s *sorter) keyPrefix(r encodedRecord) []byte {
	if r.hasFlag(truncated) {
		return r.key()
	}
	key := r.key()[:max(0, len(r.key())-s.options.SuffixLen)]
	return key[:min(len(key), s.truncatedKeyLen())]
}

// wholeKey is the key. The library wants a panic of what cannot be compared, and makes an
// error of it.
func (s *sorter) wholeKey(r encodedRecord) []byte {
	if !r.hasFlag(truncated) {
		return r.key()
	}
	key, err := s.spill.key(r.value())
	if err != nil {
		panic(err)
	}
	return key
}
