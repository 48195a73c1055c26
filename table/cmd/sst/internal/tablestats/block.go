// Package tablestats takes tables apart: what each block and each filter holds, and
// what that comes to.
package tablestats

import (
	"encoding/binary"
	"iter"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A Block is what a data block holds. In a damaged one all but the Part is zero.
type Block struct {
	table.IndexEntry      // its separator, and where it is
	Compression      byte // id
	Raw              int  // bytes, decompressed
	Entries          int
	UserKeys         int   // different keys without sequence and kind: as many as there are entries, but of internal keys
	Deletions        int   // of internal keys
	RestartPoints    int   // restart points
	KeyBytes         int64 // of all keys, whole
	KeyShared        int64 // bytes that keys share with those before them, and are not stored
	ValueBytes       int64
	LongestValue     int // value, in bytes
}

// ReadBlock reads a data block of the file, and checks it.
func ReadBlock(f *source.File, part table.IndexEntry) (Block, *block.Iter, error) {
	b := Block{IndexEntry: part}
	contents, compression, err := f.Layout.ReadBlock(part.Handle)
	if err != nil {
		return b, nil, err
	}
	it, err := source.OpenBlock(contents, f.Comparer())
	if err != nil {
		return b, nil, &table.CorruptionError{Block: "data block", Offset: int64(part.Offset), Length: int64(part.Length), Err: err}
	}
	b.Compression, b.Raw = compression, len(contents)
	b.RestartPoints = int(binary.LittleEndian.Uint32(contents[len(contents)-4:]))
	b.count(it, f.Internal)
	return b, it, nil
}

// count counts the entries.
func (b *Block) count(it *block.Iter, internal bool) {
	var keys PrefixTracker
	for ok := it.First(); ok; ok = it.Next() {
		key, value, before := it.Key(), it.Value(), len(keys.lastKey)
		shared := keys.SharedLen(it)
		k, _ := table.ParseInternalKey(key)
		if internal && k.Kind == table.KindDelete {
			b.Deletions++
		}
		if sameUser := b.Entries > 0 && len(key) == before && shared >= len(k.UserKey); !internal || !sameUser {
			b.UserKeys++
		}
		b.Entries++
		b.KeyBytes += int64(len(key))
		b.KeyShared += int64(it.Shared())
		b.ValueBytes += int64(len(value))
		b.LongestValue = max(b.LongestValue, len(value))
	}
}

// PrefixTracker goes over the keys of a block, from the first on, in time that grows with what the
// block stores of them, and not with what they share.
type PrefixTracker struct{ lastKey []byte }

// SharedLen returns how many bytes the key that it is at starts with in common with the one
// before. The key at a restart point is compared, as all of it is stored.
func (k *PrefixTracker) SharedLen(it *block.Iter) (shared int) {
	key := it.Key()
	if shared = it.Shared(); shared == 0 {
		shared = wire.SharedLen(k.lastKey, key)
	}
	k.lastKey = append(k.lastKey[:shared], key[shared:]...)
	return shared
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

// Compression is what the compression of a block is called, of which the id is known.
// Two claim 2, which how the block starts tells apart.
func Compression(f *source.File, h table.Handle, id byte) string {
	var start [4]byte
	if id != codecs.Zstd.ID() {
		return codecs.Name(id)
	}
	if _, err := f.Src.ReadAt(start[:], int64(h.Offset)); err == nil && codecs.IsZstd(start[:]) {
		return "zstd"
	}
	return "zlib"
}
