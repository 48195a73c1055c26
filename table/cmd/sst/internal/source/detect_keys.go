package source

import (
	"errors"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/block"
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
	maxSequence     = 1 << 48 // > the sequence numbers of real databases; separators have table.MaxSequence
	sampledBlocks   = 3
)

// detectKeys samples keys to find out whether they are internal keys, and whether the
// filters hold them. The error says that the keys contradict o.
func (f *File) detectKeys(o Options) error {
	samples, filters := sampleKeysOf(f.Layout), readFilters(f.Layout)
	f.filters = filters
	whole, user := filtersContain(samples, filters, identity), filtersContain(samples, filters, table.InternalFilterKey)
	index := []keySample{{keys: separators(f.Layout)}}
	internal := f.declared.looksInternal(samples)
	isListed := o.InManifest || o.InternalKeys == Auto && internal && !allLookInternal(index) && IsInManifest(f.Path)
	switch {
	case o.InternalKeys == Yes && len(samples) > 0 && !slices.ContainsFunc(samples, keySample.anyInternal):
		return errors.New("--internal-keys is yes, but keys do not end in a sequence number and a kind: want auto or no")
	case isListed:
		f.Internal, f.Rewritten = true, internal && !allLookInternal(index)
	case o.InternalKeys != Auto:
		f.Internal = o.InternalKeys == Yes
		f.FilterHasUserKeys = !f.Internal && user && !whole
	case whole != user:
		f.Internal = user
	default: // the filters do not tell
		if len(samples) == 0 && len(f.Layout.Data) > 0 {
			samples = index // all sampled blocks are damaged
		}
		f.Internal = f.declared.looksInternal(samples) && f.declared.looksInternal(index)
	}
	f.FilterUnusable = !whole
	if f.Internal && !f.Rewritten {
		f.FilterUnusable = !user
	}
	if f.FilterUnusable || f.Rewritten {
		f.filters.Blocks, f.filters.Table = nil, nil
	}
	return nil
}

// anyInternal reports whether one of the keys could be an internal key.
func (s keySample) anyInternal() bool { return slices.ContainsFunc(s.keys, isInternal) }

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
func (f *File) DetectInternalKeys(blocks iter.Seq[*block.Iter]) bool {
	var samples []keySample
	for it := range blocks {
		samples = append(samples, keySample{keys: sampleKeys(it)})
		if len(samples) == sampledBlocks {
			break
		}
	}
	return f.declared.looksInternal(samples) && AllInternalKeys(blocks)
}

// AllInternalKeys reports whether all keys have the form of internal keys.
func AllInternalKeys(blocks iter.Seq[*block.Iter]) bool {
	for it := range blocks {
		for it.Next() {
			if !isInternal(it.Key()) {
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
func sampleKeys(it *block.Iter) [][]byte {
	var keys [][]byte
	for budget := maxSampledBytes; budget > 0 && len(keys) < maxSampledKeys && it.Next(); budget -= len(it.Key()) {
		keys = append(keys, append([]byte{}, it.Key()...)) // never nil, because nil means that there is no filter key
	}
	return keys
}

// allLookInternal reports whether all keys have the form of internal keys.
func allLookInternal(samples []keySample) bool {
	for _, s := range samples {
		if slices.ContainsFunc(s.keys, func(key []byte) bool { return !isInternal(key) }) {
			return false
		}
	}
	return len(samples) > 0
}

// isInternal reports whether a key has the form of an internal key of LevelDB or goleveldb.
func isInternal(key []byte) bool {
	k, ok := table.ParseInternalKey(key)
	return ok && k.Kind <= table.KindSet && (k.Sequence < maxSequence || k.Sequence == table.MaxSequence)
}

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
