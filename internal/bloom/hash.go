package bloom

import "encoding/binary"

const (
	hashSeed = 0xbc9f1d34
	hashMul  = 0xc6a4a793
)

// The two variants of the hash. Each is the sign bit of the 1 to 3 bytes after the last
// whole word.
const (
	UnsignedTail = 0    // LevelDB's hash
	SignedTail   = 0x80 // RocksDB's variant
)

// Hash is LevelDB's 32-bit hash (util/hash.cc) with the seed of its Bloom filter, or
// RocksDB's variant of it: sign says which. It resembles Murmur.
func Hash(data []byte, sign uint32) uint32 {
	h := uint32(hashSeed) ^ uint32(len(data))*hashMul
	for ; len(data) >= 16; data = data[16:] { // four words at a time: keys are short, loops cost
		v, w := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		h = mix(h + uint32(v))
		h = mix(h + uint32(v>>32))
		h = mix(h + uint32(w))
		h = mix(h + uint32(w>>32))
	}
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

// A TableHash is the Hash of a key with a SignedTail, which filters of RocksDB's kind depend on. It is a
// type of its own so that no filter of another kind has a method that takes one.
type TableHash uint32

func mix(h uint32) uint32 {
	h *= hashMul
	return h ^ h>>16
}

// MayContainSigned reports whether the hash with a signed tail of key is another one than that
// with an unsigned tail, and all its bits are set.
func MayContainSigned(filter, key []byte) bool {
	return hasSignedTail(key) && MayContain(filter, Hash(key, SignedTail))
}

// hasSignedTail reports whether the hash of key depends on the signs of its last bytes.
func hasSignedTail(key []byte) bool {
	for _, c := range key[len(key)&^3:] {
		if c >= 0x80 {
			return true
		}
	}
	return false
}
