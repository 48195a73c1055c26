// Package rawtable builds tables from raw blocks, with valid checksums. Tests use it to build corrupt tables.
package rawtable

import (
	"encoding/binary"

	"github.com/sievetable/sievetable/internal/format"
)

// A File is a table that is being built.
type File struct{ Bytes []byte }

// Block adds an uncompressed block and returns its handle, encoded.
func (f *File) Block(contents string) string { return f.Stored(contents, 0) }

// Stored adds a block with a compression id, and returns its handle, encoded. stored is the
// compressed block.
func (f *File) Stored(stored string, id byte) string {
	h := Handle(uint64(len(f.Bytes)), uint64(len(stored)))
	f.Bytes = append(append(f.Bytes, stored...), id)
	f.Bytes = binary.LittleEndian.AppendUint32(f.Bytes, format.Checksum([]byte(stored), id))
	return h
}

// Footer adds the footer with the two encoded handles, and returns the file.
func (f *File) Footer(metaindex, index string) []byte {
	b := append([]byte(metaindex+index), make([]byte, format.FooterLen-8)...)[:format.FooterLen-8]
	return append(f.Bytes, binary.LittleEndian.AppendUint64(b, format.Magic)...)
}

// Handle returns an encoded handle.
func Handle(offset, length uint64) string {
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, offset), length))
}

// Entries returns a block with the given keys and values. Each entry is a restart point.
func Entries(keysAndValues ...string) string {
	var b []byte
	var restarts []uint32
	for i := 0; i < len(keysAndValues); i += 2 {
		restarts = append(restarts, uint32(len(b)))
		b = append(b, Entry(0, keysAndValues[i], keysAndValues[i+1])...)
	}
	if restarts == nil {
		restarts = []uint32{0}
	}
	return string(b) + Restarts(restarts...)
}

// Entry returns an entry whose key shares that many bytes with the key before.
func Entry(shared uint64, unshared, value string) string {
	return Lengths(shared, uint64(len(unshared)), uint64(len(value))) + unshared + value
}

// Lengths returns the head of an entry, with arbitrary lengths.
func Lengths(shared, unshared, value uint64) string {
	b := binary.AppendUvarint(nil, shared)
	b = binary.AppendUvarint(b, unshared)
	return string(binary.AppendUvarint(b, value))
}

// Restarts returns the end of a block: the restart points and their count.
func Restarts(at ...uint32) string {
	var b []byte
	for _, r := range append(at, uint32(len(at))) {
		b = binary.LittleEndian.AppendUint32(b, r)
	}
	return string(b)
}
