package filter

import "encoding/binary"

// hash is LevelDB's 32-bit hash (util/hash.cc) with the Bloom filter's seed. It
// resembles Murmur; the one to three bytes after the last whole word count as
// unsigned.
func hash(data []byte) uint32 {
	const (
		seed = 0xbc9f1d34
		m    = 0xc6a4a793
	)
	h := uint32(seed) ^ uint32(len(data))*m
	for ; len(data) >= 4; data = data[4:] {
		h += binary.LittleEndian.Uint32(data)
		h *= m
		h ^= h >> 16
	}
	if len(data) == 0 {
		return h
	}
	for i, c := range data {
		h += uint32(c) << (8 * i)
	}
	h *= m
	return h ^ h>>24
}
