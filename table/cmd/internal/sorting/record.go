package sorting

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// An encodedRecord is a pair as it is sorted:
//
//	number in the input   u64, little-endian
//	length of the key     u32, little-endian, with the flags below
//	key                   the whole key, or a prefix of it
//	value                 the whole value, or a reference to key and value in the spill file
//
// Large pairs are in the spill file, so that a chunk has many records.
type encodedRecord []byte

const (
	headerLen = 12

	spilled   = 1 << 31 // flag in the length: the pair is in the spill file
	truncated = 1 << 30 // flag in the length: the record has only a prefix of the key
	flags     = spilled | truncated

	maxPairLen = 1 << 30 // a table takes no larger pairs
)

// truncatedKeyLen is the length of a truncated key in a record.
func (s *sorter) truncatedKeyLen() int { return s.maxInline - spillRefLen - s.options.SuffixLen }

// add adds a pair to the records.
func (s *sorter) add(p input.Pair) error {
	if len(p.Key)+len(p.Value) > maxPairLen {
		return fmt.Errorf("pair %d of the input has %d bytes, want at most %d", s.number+1, len(p.Key)+len(p.Value), maxPairLen)
	}
	number, length := s.number, uint32(len(p.Key))
	s.number++
	if len(p.Key)+len(p.Value) <= s.maxInline {
		return s.addRecord(number, length, p.Key, p.Value)
	}
	place, err := s.spill.write(s.options.Dir, p.Key, p.Value)
	if err != nil {
		return err
	}
	if most := s.truncatedKeyLen(); len(p.Key)-s.options.SuffixLen > most {
		if err := s.spill.flush(); err != nil { // a comparison may read the key at once
			return err
		}
		return s.addRecord(number, uint32(most)|spilled|truncated, p.Key[:most], place[:])
	}
	return s.addRecord(number, length|spilled, p.Key, place[:])
}

// addRecord adds a record with these fields to the chunk that is being filled.
func (s *sorter) addRecord(number uint64, length uint32, key, value []byte) error {
	n := headerLen + len(key) + len(value)
	if !s.filling.fits(n, s.chunkSize) {
		if err := s.nextChunk(); err != nil {
			return err
		}
	}
	b := s.filling.add(n)[:0]
	b = binary.LittleEndian.AppendUint64(b, number)
	b = binary.LittleEndian.AppendUint32(b, length)
	_ = append(append(b, key...), value...)
	return nil
}

// decode decodes a record.
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

// compare compares records by key, and then by number.
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

// compareTruncated compares keys of which one is truncated: first the prefixes, and if they
// are equal, the whole keys.
func (s *sorter) compareTruncated(a, b encodedRecord) int {
	if s.options.NotBytewise {
		return s.options.Compare(s.wholeKey(a), s.wholeKey(b))
	}
	if order := bytes.Compare(s.keyPrefix(a), s.keyPrefix(b)); order != 0 {
		return order
	}
	return s.options.Compare(s.wholeKey(a), s.wholeKey(b))
}

// keyPrefix returns the start of a key, without its suffix, and at most as long as a
// truncated key.
func (s *sorter) keyPrefix(r encodedRecord) []byte {
	if r.hasFlag(truncated) {
		return r.key()
	}
	key := r.key()[:max(0, len(r.key())-s.options.SuffixLen)]
	return key[:min(len(key), s.truncatedKeyLen())]
}

// wholeKey returns the whole key. If the key cannot be read, sorting fails, and the order of
// the records does not matter any more.
func (s *sorter) wholeKey(r encodedRecord) []byte {
	if !r.hasFlag(truncated) {
		return r.key()
	}
	key, err := s.spill.key(r.value())
	if err != nil {
		s.fail(err)
		return r.key()
	}
	return key
}
