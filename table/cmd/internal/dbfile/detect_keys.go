package dbfile

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

const (
	maxSampledKeys  = 200     // maximum number of sampled keys per data block
	maxSampledBytes = 1 << 20 // approximate limit of their total size
	maxSequence     = 1 << 48 // > the sequence numbers of real databases
	sampledBlocks   = 3
)

// detectForm detects the form and the order of the keys. It returns an error if the keys contradict o.
func (f *File) detectForm(o Options) error {
	separators := make([][]byte, 0, len(f.Layout.Data)) // there can be very many
	for _, part := range f.Layout.Data {
		separators = append(separators, part.Separator)
	}
	if o.InManifest() && o.InternalKeys == Auto && f.filters.None() && f.filters.Err == nil && allLook([][][]byte{separators}, isSeparator) {
		f.Internal = true // no keys need be read: there is no filter that could rule one out
	} else if err := f.detectKeys(separators, o); err != nil {
		return err
	}
	f.detectOrder(o.FewBlocks || o.ReadOnce != nil)
	return nil
}

// detectKeys samples keys to detect whether they are internal keys, and whether the filters contain them.
func (f *File) detectKeys(separators [][]byte, o Options) error {
	samples, whole, user := f.sampleBlocks()
	form, index := isInternal, [][][]byte{separators}
	if f.Declared.Manifest != "" || o.AnyKind || slices.ContainsFunc(separators, isShortened) {
		form = hasTrailer // the MANIFEST or the separators are better evidence than the kinds
	}
	internal, indexInternal := f.Declared.looksInternal(samples, form), allLook(index, isSeparator)
	isListed := o.InManifest() || o.InternalKeys == Auto && internal && !indexInternal && IsInManifest(f.Path)
	switch {
	case o.InternalKeys == Yes && len(samples) > 0 && !f.canBeInternal(samples):
		return errors.New("--internal-keys is yes, but the keys do not end in a sequence number and a kind: use auto or no")
	case isListed:
		f.Internal, f.Rewritten = true, internal && !indexInternal
	case o.InternalKeys != Auto:
		f.Internal = o.InternalKeys == Yes
		f.FilterHasUserKeys = !f.Internal && user && !whole
	case whole != user:
		f.Internal = user
	default: // the filters do not decide
		allDamaged := len(samples) == 0 && len(f.Layout.Data) > 0 // all sampled blocks
		f.Internal = (internal || allDamaged) && f.Declared.looksInternal(index, isSeparator)
	}
	f.FilterUnusable = !whole
	if f.Internal && !f.Rewritten {
		f.FilterUnusable = !user
	}
	return nil
}

// canBeInternal reports whether samples of keys allow --internal-keys yes. If no sequence number is as small as in
// real databases, all of the samples must look like internal keys of LevelDB.
func (f *File) canBeInternal(samples [][][]byte) bool {
	return slices.ContainsFunc(slices.Concat(samples...), hasTrailer) || f.Declared.looksInternal(samples, isEntry)
}

// sampleBlocks returns samples of keys from the first, the middle and the last data block. It skips damaged
// blocks. whole and user report whether the filters contain all of these keys, or all of their user keys.
func (f *File) sampleBlocks() (samples [][][]byte, whole, user bool) {
	whole, user = true, true
	for _, i := range spread(len(f.Layout.Data), sampledBlocks) {
		it, _, _, err := f.OpenDataBlock(f.Layout.Data[i].Handle, table.AnyOrder)
		if err != nil {
			continue
		}
		keys := sampleKeys(it)
		if len(keys) > 0 {
			samples = append(samples, keys)
		}
		for _, key := range keys {
			part := internalkey.UserKey(key)
			whole = whole && f.filters.Contains(f.Layout.Data[i].Offset, key)
			user = user && part != nil && f.filters.Contains(f.Layout.Data[i].Offset, part)
		}
	}
	return samples, whole, user
}

// spread returns up to n evenly spaced numbers < all, including the first and the last.
func spread(all, n int) []int {
	numbers := make([]int, min(n, all))
	for k := range numbers {
		numbers[k] = int(uint64(k) * uint64(all-1) / uint64(max(1, len(numbers)-1))) // an int can have 32 bits
	}
	return numbers
}

// DetectInternalKeys reports whether data blocks have internal keys, if there is no index or filter. All keys
// must have the form of internal keys, and samples must be in their order.
func (f *File) DetectInternalKeys(blocks iter.Seq[*rowblock.Iter]) bool {
	var samples [][][]byte
	for it := range blocks {
		samples = append(samples, sampleKeys(it))
		if len(samples) == sampledBlocks {
			break
		}
	}
	return f.Declared.looksInternal(samples, isInternal) && all(blocks, isInternal)
}

// AllInternalKeys reports whether all keys have the form of internal keys, for a table in which Open has detected
// them.
func AllInternalKeys(blocks iter.Seq[*rowblock.Iter]) bool { return all(blocks, hasTrailer) }

// all reports whether all keys have a form.
func all(blocks iter.Seq[*rowblock.Iter], form func(key []byte) bool) bool {
	for it := range blocks {
		for it.Next() {
			if !form(it.Key()) {
				return false
			}
		}
	}
	return true
}

// sampleKeys returns the first keys of a data block.
func sampleKeys(it *rowblock.Iter) [][]byte {
	var keys [][]byte
	for budget := maxSampledBytes; budget > 0 && len(keys) < maxSampledKeys && it.Next(); budget -= len(it.Key()) {
		keys = append(keys, bytes.Clone(it.Key()))
	}
	return keys
}

// allLook reports whether there are samples, and all their keys have a form.
func allLook(samples [][][]byte, form func(key []byte) bool) bool {
	isOther := func(key []byte) bool { return !form(key) }
	hasOther := func(keys [][]byte) bool { return slices.ContainsFunc(keys, isOther) }
	return len(samples) > 0 && !slices.ContainsFunc(samples, hasOther)
}

// hasTrailer reports whether a key has the form of an internal key of any kind.
func hasTrailer(key []byte) bool {
	k, ok := internalkey.Parse(key)
	return ok && k.Sequence < maxSequence
}

// isInternal reports whether a key has the form of an internal key of a known kind.
func isInternal(key []byte) bool {
	k, _ := internalkey.Parse(key)
	return hasTrailer(key) && isKnown(k.Kind)
}

// isEntry reports whether a key has the form of an internal key of LevelDB, with any sequence number.
func isEntry(key []byte) bool {
	k, ok := internalkey.Parse(key)
	return ok && k.Kind <= internalkey.Set
}

// isShortened reports whether a separator is a shortened internal key. User keys end in 7 bytes of 0xff only by
// chance.
func isShortened(separator []byte) bool {
	k, ok := internalkey.Parse(separator)
	return ok && k.Sequence == internalkey.MaxSequence
}

// isSeparator reports whether a separator has the form of an internal key. Its kind is 1 in LevelDB and 2 in
// RocksDB 3, but any kind is allowed.
func isSeparator(separator []byte) bool { return hasTrailer(separator) || isShortened(separator) }

// samplesOrdered reports whether the keys of each sample are in order.
func samplesOrdered(samples [][][]byte, order table.Comparer) bool {
	for _, keys := range samples {
		for i := 1; i < len(keys); i++ {
			if order.Compare(keys[i-1], keys[i]) >= 0 {
				return false
			}
		}
	}
	return true
}

// OpenBlock returns an Iter on the contents of a block, and retains contents. The memory budget grows with the
// block, since no key of a sound block is longer than the block.
func OpenBlock(contents []byte, order table.Comparer) (*rowblock.Iter, error) {
	it, budget := new(rowblock.Iter), rowblock.Budget{Memory: int(min(1<<20+4*int64(len(contents)), math.MaxInt)), Compared: 1<<20 + 1024*int64(len(contents))}
	if err := it.Open(contents, rowblock.OrderOf(order), &budget); err != nil {
		return nil, err
	}
	return it, nil
}

// OpenDataBlock returns an Iter on a data block, its size after decompression, and the id of its compression.
func (f *File) OpenDataBlock(h layout.Handle, order table.Comparer) (it *rowblock.Iter, size int, compression byte, err error) {
	contents, compression, err := f.Layout.ReadBlock(h)
	if err == nil {
		if it, err = OpenBlock(contents, order); err != nil {
			err = &table.CorruptionError{Block: layout.DataBlock, Offset: int64(h.Offset), Length: int64(h.Length), Err: err}
		}
	}
	return it, len(contents), compression, err
}

// otherKinds are the kinds that RocksDB and Pebble tables can have, but LevelDB tables cannot.
var otherKinds = map[internalkey.Kind]string{
	0x02: "a merge operand",
	0x07: "a single deletion",
	0x0f: "a range deletion",
	0x11: "a blob index",
	0x12: "a set with delete",
	0x14: "a deletion with timestamp",
	0x16: "a wide-column entity",
	0x17: "a sized deletion",
	0x18: "a value with a preferred sequence number",
}

// isKnown reports whether an engine is known to write keys of that kind.
func isKnown(k internalkey.Kind) bool {
	_, other := otherKinds[k]
	return other || k <= internalkey.Set
}

// KindName returns the number and the meaning of a kind that LevelDB does not have.
func KindName(k internalkey.Kind) string {
	if name, known := otherKinds[k]; known {
		return fmt.Sprintf("%d, %s of RocksDB or Pebble", k, name)
	}
	return fmt.Sprintf("%d, which no known engine writes", k)
}

// KindDamage returns the error for a key in a data block whose kind LevelDB does not have.
func KindDamage(key internalkey.Key, block layout.Handle) error {
	err := fmt.Errorf("key %s with sequence number %d is of kind %s", format.Quote(key.UserKey), key.Sequence, KindName(key.Kind))
	return &table.CorruptionError{Block: layout.DataBlock, Offset: int64(block.Offset), Length: int64(block.Length), Err: err}
}
