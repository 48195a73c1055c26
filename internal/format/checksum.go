package format

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskDelta is added to the rotated CRC. Otherwise the CRC of data that contains CRCs would be
// weak (LevelDB's log and table formats).
const maskDelta = 0xa282ead8

// Checksum returns the masked CRC-32C of a block's stored contents followed by
// its compression id.
func Checksum(contents []byte, compression byte) uint32 {
	// One step of the table algorithm: a slice of one byte would be allocated.
	c := ^crc32.Checksum(contents, castagnoli)
	return MaskCRC(^(castagnoli[byte(c)^compression] ^ c>>8))
}

// MaskCRC returns the masked form of a CRC, which is what files store.
func MaskCRC(c uint32) uint32 { return (c>>15 | c<<17) + maskDelta }
