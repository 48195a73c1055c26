package plan

import (
	"sort"

	"github.com/sievetable/sievetable/filter/fuse"
)

// A finder returns the Option of one kind of filters that the Query asks for: with the number
// of bits given, or with the fewest whose measured rate is low enough. If there are none, it
// is one that shows how far the kind goes, whose MeetsRate is false.
type finder func(q Query) (Option, error)

// measured returns the Option of the Design, with its rates.
func (q Query) measured(d Design) (Option, error) {
	o := q.option(d)
	o.PredictedRate, o.Chosen = o.predict(), true
	m, err := measure(o, maxMeasuredKeys)
	o.Measurement = m
	o.MeetsRate = q.Rate == 0 || m.upper() <= q.Rate
	return o, err
}

// findWithLarger finds the Option at the Query's block size. If that one does not meet the
// Query, it is followed by the one with the smallest blocks that does. If none does, it is
// followed by the one that reaches the rate with the least memory, if that has larger blocks.
// Filters take at least that many bits per key.
func (q Query) findWithLarger(find finder, leastBits float64) (o Option, larger *Option, err error) {
	o, err = find(q)
	if err != nil || o.meets() || !o.MeetsRate && (o.BlockBits == 0 || !q.measurable()) { // larger blocks do not help
		return o, nil, err
	}
	nearest := o
	for q.BlockSize *= 2; q.BlockSize <= maxBlockSize; q.BlockSize *= 2 {
		isLargest := 2*q.BlockSize > maxBlockSize // mostly the one with the least memory
		if nearest.MeetsRate && !isLargest && !q.mayFit(leastBits) {
			continue
		}
		l, err := find(q)
		if err != nil || l.meets() {
			return o, &l, err
		}
		if l.MeetsRate && (!nearest.MeetsRate || l.MemoryBytes < nearest.MemoryBytes) {
			nearest, larger = l, &l
		}
	}
	return o, larger, nil
}

// mayFit reports whether the index and filters of that many bits per key fit the memory.
func (q Query) mayFit(bitsPerKey float64) bool {
	index := q.layOut().indexBytes(q.KeySize, indexEntryMemory)
	return q.Memory == 0 || index+bitsPerKey/8*float64(q.Keys) <= float64(q.Memory)
}

// measuredFuse returns the Option of filters of fingerprints with that many bits. Those of
// the chosen number are measured with as many keys as planned.
func (q Query) measuredFuse(bits int) (Option, error) {
	o := q.option(newDesign(0, tableFilter{fuseBits: bits}, q.BlockSize))
	o.PredictedRate, o.Chosen = o.predict(), bits == q.chosenFuse()
	keys := maxMeasuredKeys
	if o.Chosen {
		keys = fuse.MaxKeys
	}
	var err error
	o.Measurement, err = measure(o, keys)
	o.MeetsRate = q.Rate == 0 || o.PredictedRate <= q.Rate // it is exact
	return o, err
}

// findBloom finds filters by blocks.
func findBloom(q Query) (Option, error) {
	byBits := func(bits int) Design { return newDesign(bits, tableFilter{}, q.BlockSize) }
	formula, err := q.formula()
	if err != nil {
		return Option{}, err
	}
	return q.find(byBits, formula.BitsPerKey)
}

// usefulBloomBits are the bits per key from which on a TableBloom gains little.
const usefulBloomBits = 20

// findTableBloom finds TableBloom filters in tables with data, or without if the BlockSize is 0.
func findTableBloom(q Query) (Option, error) {
	byBits := func(bits int) Design { return newDesign(0, tableFilter{bloomBits: bits}, q.BlockSize) }
	return q.find(byBits, usefulBloomBits)
}

// find finds the Option of a kind that has a Design for each number of bits per key. The
// last number is that of a kind that does not go far enough.
func (q Query) find(byBits func(bits int) Design, last int) (Option, error) {
	switch {
	case q.Rate == 0:
		return q.measured(byBits(q.BitsPerKey))
	case !q.measurable():
		return q.measured(byBits(last))
	}
	bits := 1 + sort.Search(maxBits, func(i int) bool { return q.option(byBits(i+1)).predict() <= q.Rate })
	if bits > maxBits {
		return q.measured(byBits(last))
	}
	return q.findNear(byBits, bits, last)
}

// findNear finds the fewest bits that reach the rate when measured, near those that are
// predicted to.
func (q Query) findNear(byBits func(bits int) Design, bits, last int) (Option, error) {
	o, err := q.measured(byBits(bits))
	for ; err == nil && !o.MeetsRate; o, err = q.measured(byBits(bits)) {
		if bits++; bits > maxBits {
			return q.measured(byBits(last))
		}
	}
	for err == nil && bits > 1 {
		bits--
		fewer, fewerErr := q.measured(byBits(bits))
		if err = fewerErr; err != nil || !fewer.MeetsRate {
			break
		}
		o = fewer
	}
	return o, err
}

// findBoth finds filters by blocks and a TableBloom: with half of the given bits each, or
// those two that take the fewest bits together.
func findBoth(q Query) (Option, error) {
	both := func(blocks, bloom int) Design {
		return newDesign(blocks, tableFilter{bloomBits: bloom}, q.BlockSize)
	}
	if q.Rate == 0 {
		return q.measured(both(max(1, q.BitsPerKey/2), (q.BitsPerKey+1)/2))
	}
	rates := q.newPairRates()
	for target := q.Rate; ; {
		blocks, bloom := rates.fewest(target)
		if blocks == 0 || !q.measurable() {
			return q.measured(both(usefulBloomBits, usefulBloomBits))
		}
		o, err := q.measured(both(blocks, bloom))
		if err != nil || o.MeetsRate {
			return o, err
		}
		target *= min(0.9, q.Rate/o.upper()) // fewest takes them as independent, which is too low
	}
}

// maxPairBits is the most bits per key of both filters together.
const maxPairBits = 50

// pairRates are predicted rates by bits per key. Index 0 is no filter. Those of filters by
// blocks take some milliseconds each, and are computed when they are needed.
type pairRates struct {
	keysPerFilter int
	blocks        []float64
	blooms        []float64
}

func (q Query) newPairRates() *pairRates {
	r := &pairRates{blocks: []float64{1}, blooms: []float64{1}}
	for bits := 1; bits < maxPairBits; bits++ {
		o := q.option(newDesign(bits, tableFilter{bloomBits: bits}, q.BlockSize))
		r.keysPerFilter = o.KeysPerFilter
		r.blooms = append(r.blooms, o.table.predict(o.KeysPerTable))
	}
	return r
}

// fewest returns the bits of both filters, as few as possible, that would reach the rate
// together if their errors were independent. They are 0 if none would.
func (r *pairRates) fewest(rate float64) (blocks, bloom int) {
	for total := 2; total <= maxPairBits; total++ {
		for blocks := 1; blocks < total; blocks++ {
			if blocks == len(r.blocks) {
				r.blocks = append(r.blocks, predictBlocks(r.keysPerFilter, blocks))
			}
			if r.blocks[blocks]*r.blooms[total-blocks] <= rate {
				return blocks, total - blocks
			}
		}
	}
	return 0, 0
}
