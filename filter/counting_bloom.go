package filter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/sievetable/sievetable/internal/bloom"
)

// A CountingBloom is a Bloom filter that can also remove keys. It takes four times the memory of a [Bloom] filter.
// Store it with [CountingBloom.Counts], or as a Bloom filter with [CountingBloom.Bytes].
//
// A key that was added several times must be removed as many times. A bit's counter that reaches 15 stays there, so
// a key that was added some 15 times can no longer be removed. Other keys are not affected.
//
// Concurrent calls of Contains are safe while no other method is running.
type CountingBloom struct {
	counters []byte // 4 bits each; bit i's counter is in byte i/2, in the upper half if i is odd
	k        int
	prober   bloom.Prober
}

// maxCount is the highest count. A counter that reaches it no longer changes.
const maxCount = 15

// NewCountingBloom returns an empty filter for that number of keys at a time, with the size and k of
// [NewBloom](bitsPerKey). It returns the errors of [NewDynamicBloom].
func NewCountingBloom(keys uint64, bitsPerKey int) (*CountingBloom, error) {
	size, k, err := sizeFor("counting Bloom filter", keys, bitsPerKey, 4, "use several filters")
	if err != nil {
		return nil, err
	}
	return &CountingBloom{counters: make([]byte, 4*size), k: k, prober: bloom.NewProber(size)}, nil
}

// Add adds a key. It does not keep the slice.
func (f *CountingBloom) Add(key []byte) { f.count(key, 1) }

// Remove undoes one Add of key. If key is not in the filter, Remove returns false. It must only be called for keys
// that were added: for a false positive, it returns true and may remove other keys.
func (f *CountingBloom) Remove(key []byte) bool {
	if !f.Contains(key) {
		return false
	}
	f.count(key, 0xff) // -1
	return true
}

// count adds by to each counter of a key once. Several of a key's k bits can coincide: if each counted, a single key
// could bring a counter to its maximum.
func (f *CountingBloom) count(key []byte, by byte) {
	var bits [bloom.MaxK]uint32
	h := bloom.Hash(key, bloom.UnsignedTail)
	delta := bloom.Delta(h)
	for i := range f.k {
		bit := f.prober.Bit(h)
		if bits[i] = bit; f.counter(bit) < maxCount && !slices.Contains(bits[:i], bit) {
			f.counters[bit/2] += by << (bit % 2 * 4)
		}
		h += delta
	}
}

// Contains reports whether key may be in the filter. If it returns false, key was removed as often as it was added.
func (f *CountingBloom) Contains(key []byte) bool {
	h := bloom.Hash(key, bloom.UnsignedTail)
	delta := bloom.Delta(h)
	for range f.k {
		if f.counter(f.prober.Bit(h)) == 0 {
			return false
		}
		h += delta
	}
	return true
}

// Union adds all keys of other, as often as they were added to it. other must have the same size and k.
func (f *CountingBloom) Union(other *CountingBloom) error {
	if err := checkEqualForm("union", len(f.counters)/4, len(other.counters)/4, f.k, other.k); err != nil {
		return err
	}
	for i, more := range other.counters {
		low := min(f.counters[i]&maxCount+more&maxCount, maxCount)
		high := min(f.counters[i]>>4+more>>4, maxCount)
		f.counters[i] = high<<4 | low
	}
	return nil
}

func (f *CountingBloom) counter(bit uint32) byte {
	return f.counters[bit/2] >> (bit % 2 * 4) & maxCount
}

// Bytes returns a [Bloom] filter of the present keys, without the counts.
func (f *CountingBloom) Bytes() []byte {
	size := len(f.counters) / 4
	b := make([]byte, size+1)
	for i := range b[:size] {
		for j, two := range f.counters[4*i : 4*i+4] { // a bit is set if its count is not 0
			b[i] |= ((two&maxCount+maxCount)>>4 | (two>>4+maxCount)>>4<<1) << (2 * j)
		}
	}
	b[size] = byte(f.k)
	return b
}

const (
	countsMagic     = "SieveCnt"
	countsVersion   = 1
	countsHeaderLen = len(countsMagic) + 8
	countsSumLen    = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Counts returns the filter with its counts:
//
//	"SieveCnt"    8 bytes
//	version, 1    u32le
//	k             u32le
//	counters      4 bits for each bit of the filter; an even bit is in the lower half of its byte
//	CRC-32C       u32le, of all that precedes it
func (f *CountingBloom) Counts() []byte {
	b := make([]byte, 0, countsHeaderLen+len(f.counters)+countsSumLen)
	b = append(b, countsMagic...)
	b = binary.LittleEndian.AppendUint32(b, countsVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(f.k))
	b = append(b, f.counters...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// OpenCountingBloom returns a filter that resumes from a copy of the result of [CountingBloom.Counts].
func OpenCountingBloom(counts []byte) (*CountingBloom, error) {
	if !bytes.HasPrefix(counts, []byte(countsMagic)) {
		return nil, fmt.Errorf("filter: counts of a Bloom filter begin with %q, not with %.8q", countsMagic, counts)
	}
	size := (len(counts) - countsHeaderLen - countsSumLen) / 4
	if size < bloom.MinBits/8 || size > bloom.MaxBits/8 || countsHeaderLen+4*size+countsSumLen != len(counts) {
		return nil, fmt.Errorf("filter: counts of a Bloom filter cannot take %d bytes", len(counts))
	}
	contents, stored := counts[:len(counts)-countsSumLen], binary.LittleEndian.Uint32(counts[len(counts)-countsSumLen:])
	if sum := crc32.Checksum(contents, castagnoli); sum != stored {
		return nil, fmt.Errorf("filter: counts of a Bloom filter are corrupt: "+
			"checksum mismatch: stored 0x%08x, computed 0x%08x", stored, sum)
	}
	if v := binary.LittleEndian.Uint32(counts[len(countsMagic):]); v != countsVersion {
		return nil, fmt.Errorf("filter: counts of a Bloom filter of version %d: this package reads version %d",
			v, countsVersion)
	}
	k := binary.LittleEndian.Uint32(counts[len(countsMagic)+4:])
	if k < 1 || k > bloom.MaxK {
		return nil, fmt.Errorf("filter: counts of a Bloom filter with k = %d: must be 1 to %d", k, bloom.MaxK)
	}
	counters := bytes.Clone(contents[countsHeaderLen:])
	return &CountingBloom{counters: counters, k: int(k), prober: bloom.NewProber(size)}, nil
}
