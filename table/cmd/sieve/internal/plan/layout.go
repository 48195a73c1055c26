package plan

import (
	"math"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
)

// Sizes of the parts of a table, in bytes.
const (
	restartEvery = 16 // entries
	restartPoint = 4
	filterOffset = 4
	filterRange  = 2048 // bytes of the file per filter
	maxBlockSize = 1 << 20
)

// A blockLayout describes how keys are distributed among data blocks and their filters. Totals are floats,
// because they can exceed 2⁶⁴.
type blockLayout struct {
	keyLayout
	keysPerBlock  float64
	blockBytes    float64 // size as stored, with trailer
	blocks        float64
	keysPerFilter float64
	filters       float64 // filters with keys
	offsets       float64 // filter offsets, including filters without keys
}

// layOut distributes the keys like a Writer: a block ends with the entry that reaches the block size.
func (q Query) layOut() blockLayout {
	n, l := float64(q.Keys), blockLayout{keyLayout: q.keyLayout()}
	fit := (float64(q.BlockSize) - restartPoint) / (l.entry + float64(restartPoint)/restartEvery)
	if l.keysPerBlock = min(math.Ceil(fit), n); q.Sample != nil { // on average, half of the last entry exceeds the size
		l.keysPerBlock = min(max(1, fit+0.5), n)
	}
	if l.blockBytes = l.keysPerBlock * l.stored; q.Sample == nil {
		restarts := math.Ceil(l.keysPerBlock / restartEvery)
		l.blockBytes = math.Ceil(q.Compression*(l.keysPerBlock*l.entry+restartPoint*(restarts+1))) + format.TrailerLen
	}
	l.blocks = math.Ceil(n / l.keysPerBlock)
	l.offsets = math.Ceil(l.data() / filterRange)
	l.filters = min(l.blocks, l.offsets)
	l.keysPerFilter = math.Ceil(n / l.filters)
	return l
}

// entryBytes returns the size of an entry in a data block: three lengths, the unshared rest of the key, and the
// value. A key at a restart point shares nothing.
func entryBytes(key, shared, value float64) float64 {
	const sharing = 1 - 1.0/restartEvery
	rest := key - sharing*shared
	return 1 + varintLen(rest) + varintLen(value) + rest + value
}

// varintLen returns the length of x as a varint.
func varintLen(x float64) float64 { return max(1, math.Ceil(math.Log2(math.Floor(x)+1)/7)) }

func (l blockLayout) data() float64 { return l.blocks * l.blockBytes }

// filterBytes returns the size of the filters, with their k and offsets.
func (l blockLayout) filterBytes(bitsPerKey int) float64 {
	return l.filters*float64(filter.NewBloom(bitsPerKey).Size(uint64(l.keysPerFilter))) + l.offsets*filterOffset
}

// Memory of an open table in addition to its filters, in bytes.
const (
	// tableMemory is the fixed memory of a table.
	tableMemory = 800

	// If an index has more blocks, lookups build a search tree from it.
	maxUnbuiltBlocks = 8

	// For each block, the tree has a copy of the separator, its end, the offsets of block and filter, and the
	// separator's part of the levels.
	treeEntryMemory  = 4 + 4 + levelMemory
	levelMemory      = 8.7
	filterSpanMemory = 4
)

// keyLayout returns the layout of the Query's keys and values: the Sample's, or random keys of KeySize bytes.
//
// The separator ends with the first byte that differs, incremented by 1. If that equals the byte of the next key,
// the separator is the whole key. There are 256^j prefixes of j bytes, and each occurs in perPrefix = n/256^j of
// n keys on average. With a Poisson distribution, adjacent keys have different prefixes with probability
// (1−e^−perPrefix)/perPrefix, and consecutive prefixes with probability (1−e^−perPrefix)²/perPrefix. One in 256
// of the latter also differ before their last byte.
func (q Query) keyLayout() keyLayout {
	if q.Sample != nil {
		return q.Sample.layout(q.Keys, q.BlockSize)
	}
	const certain = 1 - 1e-9
	a, shared := keyLayout{index: 1, tree: treeEntryMemory}, 0.0
	whole, perPrefix, before := float64(q.KeySize), float64(q.Keys), 0.0
	for j := 1.0; j < whole && before < certain; j++ {
		perPrefix /= 256
		some := -math.Expm1(-perPrefix)
		differ := some / perPrefix
		next := min(differ-before, some*some/perPrefix*255/256)
		shared += 1 - differ
		a.whole += next
		a.separator += next*whole + (differ-before-next)*j
		before = differ
	}
	a.whole += 1 - before // the keys differ only in the last byte
	a.separator += (1 - before) * whole
	a.entry = entryBytes(whole, shared, float64(q.ValueSize))
	return a
}

// indexEntryBytes returns the mean size of an index entry before compression, in tables of tableBytes: three
// lengths, the separator, the block's handle, and a restart point.
func (q Query) indexEntryBytes(l blockLayout, tableBytes float64) float64 {
	lengths := 3 + l.whole*(varintLen(float64(q.KeySize))-1)
	return lengths + l.separator + meanVarintLen(tableBytes) + varintLen(l.blockBytes) + restartPoint
}

// meanVarintLen returns the mean length of numbers < n as varints.
func meanVarintLen(n float64) float64 {
	mean := 1.0
	for longer := 128.0; longer < n; longer *= 128 {
		mean += 1 - longer/n
	}
	return mean
}

// sizeIndex computes the size of the index, given the number of tables.
func (q Query) sizeIndex(o *Option, l blockLayout) {
	entry := q.indexEntryBytes(l, l.data()/o.Tables)
	o.IndexMemory = l.blocks * entry
	o.IndexBytes = o.IndexMemory * l.index
	if l.blocks/o.Tables > maxUnbuiltBlocks {
		o.IndexMemory += l.blocks * (l.separator + l.tree)
		if o.BlockBits > 0 {
			o.IndexMemory += l.blocks * filterSpanMemory
		}
	}
}
