package source

import (
	"errors"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/table"
)

// A keySample is a sample of the keys of a data block.
type keySample struct {
	offset uint64
	keys   [][]byte
}

const (
	maxSampledKeys  = 200     // maximum number of sampled keys per data block
	maxSampledBytes = 1 << 20 // approximate limit of their size
	maxSequence     = 1 << 48 // > the sequence numbers of real databases
	sampledBlocks   = 3
)

// isSound reports whether the MANIFEST lists the table, its separators are of internal keys, and no
// filter can exclude any: so no key need be read to know that all are internal keys.
func (f *File) isSound(o Options) bool {
	return o.InManifest && o.InternalKeys == Auto && f.filters.None() && f.filters.Err == nil &&
		!slices.ContainsFunc(f.Layout.Data, func(e table.IndexEntry) bool { return !isSeparator(e.Separator) })
}

// detectKeys samples keys to find out whether they are internal keys, and whether the
// filters hold them. The error says that the keys contradict o.
func (f *File) detectKeys(o Options) error {
	samples, filters := sampleKeysOf(f.Layout), f.filters
	whole, user := filtersContain(samples, filters, identity), filtersContain(samples, filters, table.InternalFilterKey)
	index := []keySample{{keys: separators(f.Layout)}}
	form := isInternal
	if f.declared.manifest != "" || o.Repair || slices.ContainsFunc(index[0].keys, isShortened) {
		form = hasTrailer // the MANIFEST or the separators tell more than the kinds
	}
	internal, indexInternal := f.declared.looksInternal(samples, form), allLook(index, isSeparator)
	isListed := o.InManifest || o.InternalKeys == Auto && internal && !indexInternal && IsInManifest(f.Path)
	switch {
	case o.InternalKeys == Yes && len(samples) > 0 && !slices.ContainsFunc(samples, keySample.anyInternal):
		return errors.New("--internal-keys is yes, but keys do not end in a sequence number and a kind: want auto or no")
	case isListed:
		f.Internal, f.Rewritten = true, internal && !indexInternal
	case o.InternalKeys != Auto:
		f.Internal = o.InternalKeys == Yes
		f.FilterHasUserKeys = !f.Internal && user && !whole
	case whole != user:
		f.Internal = user
	default: // the filters do not tell
		allDamaged := len(samples) == 0 && len(f.Layout.Data) > 0 // all sampled blocks
		f.Internal = (internal || allDamaged) && f.declared.looksInternal(index, isSeparator)
	}
	f.FilterUnusable = !whole
	if f.Internal && !f.Rewritten {
		f.FilterUnusable = !user
	}
	f.leaveOutFilters()
	return nil
}

// anyInternal reports whether one of the keys could be an internal key.
func (s keySample) anyInternal() bool { return slices.ContainsFunc(s.keys, hasTrailer) }

func identity(key []byte) []byte { return key }

// sampleKeysOf samples keys of the first, the middle and the last data block. It skips
// damaged blocks.
func sampleKeysOf(l *table.Layout) []keySample {
	var samples []keySample
	last := -1
	for i := range sampledBlocks {
		at := i * (len(l.Data) - 1) / (sampledBlocks - 1)
		if at == last || at >= len(l.Data) {
			continue
		}
		last = at
		if keys := sampleBlock(l, l.Data[at].Handle); len(keys) > 0 {
			samples = append(samples, keySample{l.Data[at].Offset, keys})
		}
	}
	return samples
}

// separators returns the separators in the index.
func separators(l *table.Layout) [][]byte {
	keys := make([][]byte, len(l.Data))
	for i, part := range l.Data {
		keys[i] = part.Separator
	}
	return keys
}

// DetectInternalKeys reports whether data blocks without index and filter have internal
// keys. All keys must have the form of internal keys, and samples must be in their order.
func (f *File) DetectInternalKeys(blocks iter.Seq[*encoded.Iter]) bool {
	var samples []keySample
	for it := range blocks {
		samples = append(samples, keySample{keys: sampleKeys(it)})
		if len(samples) == sampledBlocks {
			break
		}
	}
	return f.declared.looksInternal(samples, isInternal) && all(blocks, isInternal)
}

// AllInternalKeys reports whether all keys of a table that Open took for one of internal keys
// have their form.
func AllInternalKeys(blocks iter.Seq[*encoded.Iter]) bool { return all(blocks, hasTrailer) }

// all reports whether all keys have a form.
func all(blocks iter.Seq[*encoded.Iter], form func(key []byte) bool) bool {
	for it := range blocks {
		for it.Next() {
			if !form(it.Key()) {
				return false
			}
		}
	}
	return true
}

func sampleBlock(l *table.Layout, h table.Handle) [][]byte {
	contents, _, err := l.ReadBlock(h)
	if err != nil {
		return nil
	}
	it, err := OpenBlock(contents, table.AnyOrder)
	if err != nil {
		return nil
	}
	return sampleKeys(it)
}

// sampleKeys returns the first keys of a data block.
func sampleKeys(it *encoded.Iter) [][]byte {
	var keys [][]byte
	for budget := maxSampledBytes; budget > 0 && len(keys) < maxSampledKeys && it.Next(); budget -= len(it.Key()) {
		keys = append(keys, append([]byte{}, it.Key()...)) // never nil, because nil means that there is no filter key
	}
	return keys
}

// allLook reports whether there are samples, and all their keys have a form.
func allLook(samples []keySample, form func(key []byte) bool) bool {
	for _, s := range samples {
		if slices.ContainsFunc(s.keys, func(key []byte) bool { return !form(key) }) {
			return false
		}
	}
	return len(samples) > 0
}

// hasTrailer reports whether a key has the form of an internal key of any kind.
func hasTrailer(key []byte) bool {
	k, ok := table.ParseInternalKey(key)
	return ok && k.Sequence < maxSequence
}

// isInternal reports whether a key has the form of an internal key of a kind that is known.
func isInternal(key []byte) bool {
	k, _ := table.ParseInternalKey(key)
	return hasTrailer(key) && isKnown(k.Kind)
}

// isShortened reports whether a separator was made of internal keys, and shortened. No user key
// ends in 7 bytes of 0xff, but by chance.
func isShortened(separator []byte) bool {
	k, ok := table.ParseInternalKey(separator)
	return ok && k.Sequence == table.MaxSequence
}

// isSeparator reports whether a separator has the form of one of internal keys. Its kind is 1 in
// LevelDB, 2 in RocksDB 3, and can be any.
func isSeparator(separator []byte) bool { return hasTrailer(separator) || isShortened(separator) }

// samplesOrdered reports whether the keys of each sample are in order.
func samplesOrdered(samples []keySample, order table.Comparer) bool {
	for _, s := range samples {
		for i := 1; i < len(s.keys); i++ {
			if order.Compare(s.keys[i-1], s.keys[i]) >= 0 {
				return false
			}
		}
	}
	return true
}

// filtersContain reports whether the filters contain filterKey(key) for all keys.
func filtersContain(samples []keySample, f Filters, filterKey func([]byte) []byte) bool {
	for _, s := range samples {
		for _, key := range s.keys {
			if part := filterKey(key); part == nil || !f.Contains(s.offset, part) {
				return false
			}
		}
	}
	return true
}
