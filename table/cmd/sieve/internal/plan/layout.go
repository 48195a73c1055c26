package plan

import (
	"math"

	"github.com/sievetable/sievetable/internal/format"
)

// Sizes of the parts of a table, in bytes.
const (
	restartEvery  = 16 // entries
	restartPoint  = 4
	filterOffset  = 4
	filterRange   = 2048 // bytes of the file per filter
	minFilterBits = 64
	maxBlockSize  = 1 << 20
)

// A blockLayout says how keys are distributed among data blocks and their filters. Totals are
// floats, because they can exceed 2⁶⁴.
type blockLayout struct {
	keyLayout
	keysPerBlock  float64
	blockBytes    float64 // size as stored, with trailer
	blocks        float64
	keysPerFilter float64
	filters       float64 // filters with keys
	offsets       float64 // filter offsets, including filters without keys
}

// layOut distributes the keys as a Writer does: a block ends with the entry that reaches
// the block size.
func (q Query) layOut() blockLayout {
	n, l := float64(q.Keys), blockLayout{keyLayout: q.keyLayout()}
	fit := (float64(q.BlockSize) - restartPoint) / (l.entry + float64(restartPoint)/restartEvery)
	if l.keysPerBlock = min(math.Ceil(fit), n); q.Sample != nil { // half of the last entry, on average, is beyond the size
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

// entryBytes returns the size of an entry of a data block: the lengths of what the key shares, of the rest of it and of
// the value, and these two. A key at a restart point shares nothing.
func entryBytes(key, shared, value float64) float64 {
	const sharing = 1 - 1.0/restartEvery
	rest := key - sharing*shared
	return 1 + varintLen(rest) + varintLen(value) + rest + value
}

// varintLen returns how many bytes x takes as a varint.
func varintLen(x float64) float64 { return max(1, math.Ceil(math.Log2(math.Floor(x)+1)/7)) }

func (l blockLayout) data() float64 { return l.blocks * l.blockBytes }

// filterBits returns the length of the bit array of a filter.
func (l blockLayout) filterBits(bitsPerKey int) float64 {
	return 8 * math.Ceil(max(minFilterBits, l.keysPerFilter*float64(bitsPerKey))/8)
}

// filterBytes returns the size of the filters, with their k and offsets.
func (l blockLayout) filterBytes(bitsPerKey int) float64 {
	return l.filters*(l.filterBits(bitsPerKey)/8+1) + l.offsets*filterOffset
}
