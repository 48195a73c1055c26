package source

import (
	"errors"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/table"
)

// keySample is some keys of a data block.
type keySample struct {
	offset uint64
	keys   [][]byte
}

const (
	maxSampledKeys  = 200     // of a data block, at most
	maxSampledBytes = 1 << 20 // of these keys, more or less
	maxSequence     = 1 << 48 // more writes than a database sees; separators have table.MaxSequence
	sampledBlocks   = 3
)

// detectKeys finds out what the file's keys are, and whether its filter holds them, by
// some of them. It is an error if they cannot be what o says.
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
	default: // the filter does not tell
		if len(samples) == 0 && len(f.Layout.Data) > 0 {
			samples = index // the blocks are damaged
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

// sampleKeysOf takes keys from the first, the middle and the last data block. What is
// damaged gives none.
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

// separators returns the keys of the index.
func separators(l *table.Layout) [][]byte {
	keys := make([][]byte, len(l.Data))
	for i, part := range l.Data {
		keys[i] = part.Separator
	}
	return keys
}

// DetectInternalKeys reports whether the keys of data blocks, of which there is neither an index
// nor a filter, look like internal keys: all of them, and some are in their order.
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

// AllInternalKeys reports whether all keys could be internal keys of LevelDB and goleveldb.
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
	for room := maxSampledBytes; room > 0 && len(keys) < maxSampledKeys && it.Next(); room -= len(it.Key()) {
		keys = append(keys, append([]byte{}, it.Key()...)) // no nil, which stands for no part of a key
	}
	return keys
}

// allLookInternal reports whether all keys could be internal keys.
func allLookInternal(samples []keySample) bool {
	for _, s := range samples {
		if slices.ContainsFunc(s.keys, func(key []byte) bool { return !isInternal(key) }) {
			return false
		}
	}
	return len(samples) > 0
}

// isInternal reports whether a key could be an internal key of LevelDB and goleveldb.
func isInternal(key []byte) bool {
	k, ok := table.ParseInternalKey(key)
	return ok && k.Kind <= table.KindSet && (k.Sequence < maxSequence || k.Sequence == table.MaxSequence)
}

// samplesOrdered reports whether the keys are in order.
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

// filtersContain reports whether the filters hold held of all keys.
func filtersContain(samples []keySample, f Filters, held func([]byte) []byte) bool {
	for _, s := range samples {
		for _, key := range s.keys {
			if part := held(key); part == nil || !f.Contains(s.offset, part) {
				return false
			}
		}
	}
	return true
}
