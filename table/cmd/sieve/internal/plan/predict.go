package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
)

// predict returns the rate that is expected of the Option's filters.
func (o Option) predict() float64 {
	blocks, table := predictBlocks(o.KeysPerFilter, o.BlockBits), o.table.predict(o.KeysPerTable)
	if o.BlockBits > 0 && o.table.bloomBits > 0 {
		return o.predictBoth(blocks, table)
	}
	return blocks * table
}

// predictBlocks returns the rate of filters by blocks, or 1 without bits.
func predictBlocks(keys, bitsPerKey int) float64 {
	if bitsPerKey == 0 {
		return 1
	}
	s, err := filter.SizeForBits(uint64(keys), bitsPerKey)
	if err != nil {
		return 1 // more bits than there can be
	}
	return s.SingleRate
}

// predict returns the rate of the filter of a table of n keys, or 1 without a filter.
func (f tableFilter) predict(n float64) float64 {
	switch {
	case f.bloomBits > 0:
		return filter.NewTableBloom(f.bloomBits).Rate(uint64(n))
	case f.fuseBits > 0:
		return f.policy().(fuse.Policy).Rate()
	}
	return 1
}

// nearestFuse returns the size of fingerprints whose filters take about that many bits per
// key.
func nearestFuse(bitsPerKey int) int {
	const many = fuse.MaxKeys
	off := func(bits int) float64 {
		return math.Abs(8*tableFilter{fuseBits: bits}.bytes(many)/many - float64(bitsPerKey))
	}
	return slices.MinFunc(fuseSizes, func(a, b int) int { return cmp.Compare(off(a), off(b)) })
}

// chosenFuse returns the size of fingerprints that the Query asks for: the smallest with the
// rate, or the largest if none has it.
func (q Query) chosenFuse() int {
	if q.Rate == 0 {
		return nearestFuse(q.BitsPerKey)
	}
	i := slices.IndexFunc(fuseSizes, func(bits int) bool { return tableFilter{fuseBits: bits}.predict(1) <= q.Rate })
	if i < 0 {
		i = len(fuseSizes) - 1
	}
	return fuseSizes[i]
}
