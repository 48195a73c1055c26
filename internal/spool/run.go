package spool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/sievetable/sievetable/internal/format"
)

// A Run contains the places of blocks with entries in ascending order of keys. An entry consists of three lengths,
// the rest of the key, and the value. The lengths are those of the prefix shared with the key before, of the rest,
// and of the value.
type Run []byte

// Append adds an entry to the run.
func (f *File) Append(key, value []byte) error {
	shared := format.SharedLen(f.last, key)
	f.last = append(f.last[:shared], key[shared:]...)
	b := binary.AppendUvarint(f.block, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(key)-shared))
	b = binary.AppendUvarint(b, uint64(len(value)))
	f.block = append(append(b, key[shared:]...), value...)
	if len(f.block) < blockSize {
		return nil
	}
	return f.endBlock()
}

// endBlock writes the next block, if it has entries.
func (f *File) endBlock() error {
	if len(f.block) == 0 {
		return nil
	}
	f.block = binary.LittleEndian.AppendUint32(f.block, crc32.ChecksumIEEE(f.block))
	place, err := f.Put(f.block)
	f.run, f.block = append(f.run, place...), f.block[:0]
	if cap(f.block) > 4*blockSize { // it held a large value
		f.block = nil
	}
	return err
}

// End returns the run of the entries since the last End.
func (f *File) End() (Run, error) {
	if err := f.endBlock(); err != nil {
		return nil, err
	}
	run := f.run
	f.run, f.last = nil, f.last[:0]
	return run, f.Flush()
}

// A Reader iterates over the entries of a Run. Its slices are valid until the next call of Next.
type Reader struct {
	file        *File
	run         Run    // places of blocks to read
	block, rest []byte // the last block, and its entries to read
	key, value  []byte
	err         error
}

// Open returns a Reader before the first entry.
func (f *File) Open(run Run) *Reader { return &Reader{file: f, run: run} }

// First is like Next, for a new Reader.
func (r *Reader) First() bool { return r.Next() }

// Next moves to the next entry. It returns false at the end, and after an error.
func (r *Reader) Next() bool {
	for len(r.rest) == 0 {
		if r.err != nil || len(r.run) == 0 {
			return false
		}
		if r.block, r.err = r.file.Get(r.run, r.block); r.err == nil {
			r.rest, r.err = checked(r.block)
			r.run = r.run[PlaceLen:]
		}
	}
	shared, rest, value := r.uvarint(), r.uvarint(), r.uvarint()
	r.key = append(r.key[:shared], r.rest[:rest]...)
	r.value, r.rest = r.rest[rest:][:value:value], r.rest[rest+value:]
	return true
}

// checked returns the entries of a block, if they match the checksum after them.
func checked(block []byte) ([]byte, error) {
	n := len(block) - crc32.Size
	if crc32.ChecksumIEEE(block[:n]) != binary.LittleEndian.Uint32(block[n:]) {
		return nil, errors.New("temporary file: it was changed after it was written")
	}
	return block[:n], nil
}

func (r *Reader) uvarint() int {
	v, n := binary.Uvarint(r.rest)
	r.rest = r.rest[n:]
	return int(v)
}

// Key returns the key of the entry.
func (r *Reader) Key() []byte { return r.key }

// Value returns the value of the entry.
func (r *Reader) Value() []byte { return r.value }

// Error returns the error of Next.
func (r *Reader) Error() error { return r.err }
