package filter

import "encoding/binary"

const (
	hashSeed = 0xbc9f1d34
	hashMul  = 0xc6a4a793
)

// hash is LevelDB's 32-bit hash (util/hash.cc) with the Bloom filter's seed. It
// resembles Murmur; the one to three bytes after the last whole word count as
// unsigned.
func hash(data []byte) uint32 { return hashSigned(data, 0) }

// signedHash is the same with signed bytes after the last whole word: RocksDB's.
func signedHash(data []byte) uint32 { return hashSigned(data, 0x80) }

// hashSigned takes the bit that is the sign of a byte after the last whole word.
func hashSigned(data []byte, sign uint32) uint32 {
	h := uint32(hashSeed) ^ uint32(len(data))*hashMul
	for ; len(data) >= 16; data = data[16:] { // four words at a time: keys are short, loops cost
		v, w := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		h = mix(h + uint32(v))
		h = mix(h + uint32(v>>32))
		h = mix(h + uint32(w))
		h = mix(h + uint32(w>>32))
	}
	if len(data) == 0 {
		return h
	}
	return hashTail(h, data, sign)
}

// hashTail goes on from h with the last, up to 15, bytes.
func hashTail(h uint32, data []byte, sign uint32) uint32 {
	for ; len(data) >= 4; data = data[4:] {
		h = mix(h + binary.LittleEndian.Uint32(data))
	}
	if len(data) == 0 {
		return h
	}
	for i, c := range data {
		h += (uint32(c) ^ sign - sign) << (8 * i)
	}
	h *= hashMul
	return h ^ h>>24
}

func mix(h uint32) uint32 {
	h *= hashMul
	return h ^ h>>16
}
