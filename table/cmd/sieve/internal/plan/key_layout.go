package plan

import (
	"bytes"
	"cmp"
	"errors"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/layout"
)

// A keyLayout is the space that keys and values take in tables, as means in bytes.
type keyLayout struct {
	entry     float64 // entry of a data block, before compression
	separator float64 // separator of two keys in adjacent data blocks
	whole     float64 // share of separators that are whole keys; 0 in a KeySample
	stored    float64 // of data blocks with trailers, per key; 0 if keys are random
	index     float64 // compressed size of the index, as a share of its size
	tree      float64 // entry in the index's search tree, without the separator
}

// layoutLevels is the number of tables from which a layout is extrapolated to a number of keys.
const layoutLevels = 4

// layout returns the layout of tables of n keys. The more keys a list has, the longer are the prefixes that
// neighbors share. So it also writes tables of fewer keys of the sample, each with half the keys of the one
// before. Their sizes lie near a line over the logarithm of the number of keys, up to n.
func (s *KeySample) layout(n, blockSize uint64) keyLayout {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := [2]uint64{max(n, minSampleKeys), blockSize}
	if l, ok := s.layouts[of]; ok {
		return l
	}
	var logs []float64
	var levels []keyLayout
	share := min(1, float64(of[0])/s.likeKeys())
	for range layoutLevels {
		l, err := layoutOf(s.thinned(share), blockSize)
		s.layoutErr = cmp.Or(s.layoutErr, err)
		logs, levels = append(logs, math.Log2(share*s.likeKeys())), append(levels, l)
		share /= 2
	}
	l := extrapolate(logs, levels, math.Log2(float64(of[0])))
	s.layouts[of] = l
	return l
}

// extrapolate returns the layout at a logarithm of the number of keys. Each part is on a line through the first
// level's value, with the slope of all levels, but at least a quarter of the first level's value.
func extrapolate(logs []float64, levels []keyLayout, at float64) keyLayout {
	on := func(part func(keyLayout) float64) float64 {
		ys := make([]float64, len(levels))
		for i, l := range levels {
			ys[i] = part(l)
		}
		_, slope := stat.LinearRegression(logs, ys, nil, false)
		return max(ys[0]/4, ys[0]+slope*(at-logs[0]))
	}
	return keyLayout{
		entry:     on(func(l keyLayout) float64 { return l.entry }),
		separator: on(func(l keyLayout) float64 { return l.separator }),
		stored:    on(func(l keyLayout) float64 { return l.stored }),
		index:     levels[0].index,
		tree:      levels[0].tree,
	}
}

// layoutOf returns the layout of a table of the pairs.
func layoutOf(pairs []input.Pair, blockSize uint64) (l keyLayout, err error) {
	if l, err = storedLayout(pairs, blockSize); err != nil {
		return l, err
	}
	n := float64(len(pairs))
	for i, p := range pairs {
		shared := 0
		if i > 0 {
			last := pairs[i-1].Key
			shared = format.SharedLen(last, p.Key)
			separator := table.BytewiseComparer.Separator(nil, last, p.Key)
			if separator == nil {
				separator = last
			}
			l.separator += float64(len(separator)) / (n - 1)
		}
		l.entry += entryBytes(float64(len(p.Key)), float64(shared), float64(len(p.Value))) / n
	}
	return l, nil
}

// storedLayout returns the part of the layout that is measured by writing a table of the pairs, as sst build
// does.
func storedLayout(pairs []input.Pair, blockSize uint64) (l keyLayout, err error) {
	var file bytes.Buffer
	w, err := table.NewWriter(&file, &table.WriterOptions{BlockSize: int(blockSize), Compression: table.Snappy, Properties: true})
	if err != nil {
		return l, err
	}
	for _, p := range pairs {
		if err := w.Append(p.Key, p.Value); err != nil {
			return l, errors.Join(err, w.Abort())
		}
	}
	if err := w.Close(); err != nil {
		return l, err
	}
	r, err := table.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		return l, err
	}
	defer r.Close() // it was only read
	layout, err := r.Layout()
	if err != nil {
		return l, err
	}
	p, err := r.Properties()
	if err != nil {
		return l, err
	}
	l.stored = float64(p.DataSize+p.DataBlocks*format.TrailerLen) / float64(len(pairs))
	l.index = float64(layout.Index.Length) / float64(p.IndexSize)
	l.tree, err = treeEntry(r, layout, pairs[0].Key)
	return l, err
}

// treeEntry returns the size of an entry in the search tree that lookups build from an index, without its
// separator.
func treeEntry(r *table.Reader, l *layout.Layout, key []byte) (float64, error) {
	if len(l.Data) <= maxUnbuiltBlocks {
		return treeEntryMemory, nil
	}
	before := r.MemorySize()
	for range 4 * len(l.Data) {
		if _, _, err := r.FindGE(key); err != nil {
			return 0, err
		}
	}
	separators := 0
	for _, b := range l.Data {
		separators += len(b.Separator)
	}
	return float64(r.MemorySize()-before-int64(separators)) / float64(len(l.Data)), nil
}
