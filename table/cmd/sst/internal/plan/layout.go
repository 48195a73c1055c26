package plan

import (
	"math"

	"github.com/sievetable/sievetable/internal/format"
)

// What the parts of a table take in bytes.
const (
	entryHeader   = 3  // shared, unshared and value length, for short ones
	restartEvery  = 16 // entries
	restartPoint  = 4
	filterOffset  = 4
	filterRange   = 2048 // bytes of the file that one filter is for
	minFilterBits = 64

	// An entry of the index has its header, a handle of about six bytes and a
	// restart point beside the separator. In memory it has the handle and the
	// separator's place decoded, and its part of the search tree.
	indexEntryDisk   = entryHeader + 6 + restartPoint
	indexEntryMemory = 50

	maxBlockSize = 1 << 20
)

// A tableLayout is how many keys lie where. Totals are floats: they may exceed 2⁶⁴.
type tableLayout struct {
	keysPerBlock  float64
	blockBytes    float64 // stored, with its trailer
	blocks        float64
	keysPerFilter float64
	filters       float64 // that have keys
	offsets       float64 // of filters, those without keys too
}

// layOut lays the keys out in blocks, as a Writer does: a block ends with the entry
// that brings it to its size.
func (q Query) layOut() tableLayout {
	var l tableLayout
	n := float64(q.Keys)
	entry := float64(entryHeader + q.KeySize + q.ValueSize)
	fit := (float64(q.BlockSize) - restartPoint) / (entry + float64(restartPoint)/restartEvery)
	l.keysPerBlock = min(math.Ceil(fit), n)
	restarts := math.Ceil(l.keysPerBlock / restartEvery)
	l.blockBytes = math.Ceil(q.Compression*(l.keysPerBlock*entry+restartPoint*(restarts+1))) + format.TrailerLen
	l.blocks = math.Ceil(n / l.keysPerBlock)
	l.offsets = math.Ceil(l.data() / filterRange)
	l.filters = min(l.blocks, l.offsets)
	l.keysPerFilter = math.Ceil(n / l.filters)
	return l
}

func (l tableLayout) data() float64 { return l.blocks * l.blockBytes }

// filterBytes returns what the filters take, with their k and offsets.
func (l tableLayout) filterBytes(bitsPerKey int) float64 {
	bits := max(minFilterBits, l.keysPerFilter*float64(bitsPerKey))
	return l.filters*(math.Ceil(bits/8)+1) + l.offsets*filterOffset
}

func (l tableLayout) indexBytes(keySize uint64, perEntry float64) float64 {
	return l.blocks * (float64(keySize) + perEntry)
}
