package filter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/sievetable/sievetable/internal/bloom"
)

const (
	countsMagic     = "SieveCnt"
	countsVersion   = 1
	countsHeaderLen = len(countsMagic) + 8
	countsSumLen    = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Counts returns the filter with its counts, from which [OpenCountingBloom] resumes:
//
//	"SieveCnt"    8 bytes
//	version, 1    u32le
//	k             u32le
//	counters      4 bits for each bit of the filter, an even bit in the lower half of its byte
//	CRC-32C       u32le, of all that precedes it
func (f *CountingBloom) Counts() []byte {
	return f.AppendCounts(make([]byte, 0, countsHeaderLen+len(f.counters)+countsSumLen))
}

// AppendCounts appends what Counts returns to b, and returns the extended slice.
func (f *CountingBloom) AppendCounts(b []byte) []byte {
	start := len(b)
	b = slices.Grow(b, countsHeaderLen+len(f.counters)+countsSumLen)
	b = append(b, countsMagic...)
	b = binary.LittleEndian.AppendUint32(b, countsVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(f.k))
	b = append(b, f.counters...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// OpenCountingBloom returns a filter that resumes from what [CountingBloom.Counts] returned. It copies the bytes.
// If any of them has changed, OpenCountingBloom returns an error.
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
		return nil, fmt.Errorf("filter: counts of a Bloom filter are corrupt: checksum 0x%08x, and 0x%08x is stored", sum, stored)
	}
	if v := binary.LittleEndian.Uint32(counts[len(countsMagic):]); v != countsVersion {
		return nil, fmt.Errorf("filter: counts of a Bloom filter of version %d: this package reads version %d", v, countsVersion)
	}
	k := binary.LittleEndian.Uint32(counts[len(countsMagic)+4:])
	if k < 1 || k > bloom.MaxK {
		return nil, fmt.Errorf("filter: counts of a Bloom filter with k = %d, and k is 1 to %d", k, bloom.MaxK)
	}
	counters := bytes.Clone(contents[countsHeaderLen:])
	return &CountingBloom{counters: counters, k: int(k), prober: bloom.NewProber(size)}, nil
}
