// Package anatomy takes tables apart: what each block and each filter holds, and
// what that comes to.
package anatomy

import (
	"encoding/binary"
	"iter"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// Trailer is how many bytes follow each block.
const Trailer = 5

// A Block is what a data block holds. In a damaged one all but the Part is zero.
type Block struct {
	table.Part       // its separator, and where it is
	Compression byte // id
	Raw         int  // bytes, decompressed
	Entries     int
	Deletions   int   // of internal keys
	Restarts    int   // restart points
	KeyBytes    int64 // of all keys, whole
	KeyStored   int64 // what keys take in the block, with three lengths each
	ValueBytes  int64
	Longest     int // value, in bytes
}

// ReadBlock reads a data block of the file, and checks it.
func ReadBlock(f *source.File, part table.Part) (Block, block.Block, error) {
	b := Block{Part: part}
	contents, compression, err := f.Layout.ReadBlock(part.Handle)
	if err != nil {
		return b, block.Block{}, err
	}
	opened, err := block.Open(contents, f.Compare)
	if err != nil {
		return b, block.Block{}, &table.CorruptionError{Block: "data block", Offset: int64(part.Offset), Err: err}
	}
	b.Compression, b.Raw = compression, len(contents)
	b.Restarts = int(binary.LittleEndian.Uint32(contents[len(contents)-4:]))
	b.count(opened.NewIter(), f.Internal)
	return b, opened, nil
}

func (b *Block) count(it *block.Iter, internal bool) {
	for ok := it.First(); ok; {
		if k, _ := table.ParseInternalKey(it.Key()); internal && k.Kind == table.KindDelete {
			b.Deletions++
		}
		start, key, value := it.Offset(), len(it.Key()), len(it.Value())
		ok = it.Next()
		b.Entries++
		b.KeyBytes += int64(key)
		b.ValueBytes += int64(value)
		b.KeyStored += int64(it.Offset() - start - value)
		b.Longest = max(b.Longest, value)
	}
}

// Blocks reads the data blocks one after the other. A damaged one comes with its
// error, and the rest follows.
func Blocks(f *source.File) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		for _, part := range f.Layout.Data {
			b, _, err := ReadBlock(f, part)
			if !yield(b, err) {
				return
			}
		}
	}
}

// CompressionName is what a compression id is called. Two claim 2.
func CompressionName(id byte) string {
	switch id {
	case 0:
		return "none"
	case 1:
		return "snappy"
	case 2:
		return "zstd or zlib"
	case 4:
		return "deflate"
	}
	return "unknown"
}
