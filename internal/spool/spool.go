// Package spool keeps blocks of bytes, and runs of sorted entries, in a temporary file.
package spool

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/tempfile"
)

// A File is a temporary file. Put and Append create it. Get and Reader read blocks that were put before a Flush,
// even while others are being put.
type File struct {
	tempfile.File
	Dir string // directory of the file; "" for the default of the system

	out  *bufio.Writer
	size int64

	// The run that Append adds to:
	run   Run
	block []byte // entries of the next block
	last  []byte // the key before
}

// PlaceLen is the length of a block's place: its offset and its size.
const PlaceLen = 12

const blockSize = 64 << 10

// ReaderMemory is the memory of a Reader whose entries have up to a few KiB: a block and its last entry.
const ReaderMemory = blockSize + 8<<10

// Put adds a block, and returns its place.
func (f *File) Put(block []byte) (place []byte, err error) {
	if f.out == nil {
		if err := f.Create(f.Dir); err != nil {
			return nil, err
		}
		f.out = bufio.NewWriterSize(f.File, blockSize)
	}
	place = binary.LittleEndian.AppendUint64(nil, uint64(f.size))
	place = binary.LittleEndian.AppendUint32(place, uint32(len(block)))
	f.size += int64(len(block))
	_, err = f.out.Write(block)
	return place, err
}

// Flush makes all blocks readable.
func (f *File) Flush() error {
	if f.out == nil {
		return nil
	}
	return f.out.Flush()
}

// Get returns the block at place, using buf if its capacity suffices. It is safe for concurrent use.
func (f *File) Get(place, buf []byte) ([]byte, error) {
	size := int(binary.LittleEndian.Uint32(place[8:]))
	if size > cap(buf) {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	_, err := f.ReadAt(buf, int64(binary.LittleEndian.Uint64(place)))
	if err == io.EOF {
		err = fmt.Errorf("temporary file: %w", io.ErrUnexpectedEOF)
	}
	return buf, err
}
