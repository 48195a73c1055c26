package plan

import (
	"math"

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
	nearest, least := 0, math.Inf(1)
	for _, bits := range fuseSizes {
		const many = fuse.MaxKeys
		perKey := 8 * tableFilter{fuseBits: bits}.bytes(many) / many
		if d := math.Abs(perKey - float64(bitsPerKey)); d < least {
			nearest, least = bits, d
		}
	}
	return nearest
}

// chosenFuse returns the size of fingerprints that the Query asks for: the smallest with the
// rate, or the largest if none has it.
func (q Query) chosenFuse() int {
	if q.Rate == 0 {
		return nearestFuse(q.BitsPerKey)
	}
	for _, bits := range fuseSizes {
		if (tableFilter{fuseBits: bits}).predict(1) <= q.Rate {
			return bits
		}
	}
	return fuseSizes[len(fuseSizes)-1]
}
