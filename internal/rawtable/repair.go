package rawtable

import (
	"encoding/binary"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/internal/format"
)

// maxDecoded is the size of the largest block that Repair decompresses.
const maxDecoded = 1 << 20

// Repair fixes the checksums of a corrupt table, in all blocks that it finds by footer, index and metaindex. A
// fuzzer calls it so that wrong checksums do not hide other faults.
func Repair(contents []byte) {
	if len(contents) < format.FooterLen {
		return
	}
	blocks := contents[:len(contents)-format.FooterLen]
	footer := contents[len(blocks):]
	binary.LittleEndian.PutUint64(footer[format.FooterLen-8:], format.Magic)
	for range 2 { // the metaindex, the index
		stored, n := repair(blocks, footer)
		if n == 0 {
			return
		}
		footer = footer[n:]
		for _, value := range values(stored) {
			repair(blocks, value)
		}
	}
}

// repair fixes the checksum of the block that handle points to. It returns the contents of the block and the length
// of the handle, or 0 if the block is not in blocks.
func repair(blocks, handle []byte) (contents []byte, n int) {
	offset, n0 := format.Uvarint(handle)
	length, n1 := format.Uvarint(handle[n0:])
	size := uint64(len(blocks))
	if n0 == 0 || n1 == 0 || offset > size || length > size-offset || size-offset-length < format.TrailerLen {
		return nil, 0
	}
	stored, trailer := blocks[offset:offset+length], blocks[offset+length:]
	binary.LittleEndian.PutUint32(trailer[1:], format.Checksum(stored, trailer[0]))
	if trailer[0] == 0 {
		return stored, n0 + n1
	}
	if size, err := snappy.DecodedLen(stored); err == nil && size <= maxDecoded {
		contents, _ = snappy.Decode(nil, stored) // nil after an error
	}
	return contents, n0 + n1
}

// values returns the values of a block, up to the first entry that cannot be decoded.
func values(contents []byte) (all [][]byte) {
	b, err := format.SplitBlock(contents)
	if err != nil {
		return nil
	}
	for at := 0; at < len(b.Entries); {
		e, err := format.DecodeEntry(b.Entries, at)
		if err != nil {
			return all
		}
		all, at = append(all, b.Entries[e.Value:e.End]), e.End
	}
	return all
}
