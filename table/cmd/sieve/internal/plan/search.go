package plan

import "github.com/sievetable/sievetable/filter/fuse"

// A finder returns the Option of one kind of filters that the Query asks for: with the number
// of bits given, or with the fewest whose predicted and measured rates are low enough. If there are
// none, it is one that shows how far the kind goes, whose MeetsRate is false.
type finder func(q Query) (Option, error)

// measured returns the Option of the Design, with its rates. A fuse filter is chosen if its fingerprints have the size
// that the Query asks for, and is then measured with as many keys as planned.
func (q Query) measured(d Design) (Option, error) {
	o, keys := q.option(d), maxMeasuredKeys
	o.PredictedRate, o.Chosen = o.predict(), d.table.fuseBits == 0 || d.table.fuseBits == q.chosenFuse()
	if o.Chosen && d.table.fuseBits > 0 {
		keys = fuse.MaxKeys
	}
	var err error
	o.Measurement, err = q.measure(o, keys)
	rate := o.upper()
	if d.table.fuseBits > 0 {
		rate = o.MeasuredRate - o.Band // the prediction is exact
	}
	o.MeetsRate = q.Rate == 0 || o.PredictedRate <= q.Rate && rate <= q.Rate
	return o, err
}

// findWithLarger finds the Option at the Query's block size. If that one does not meet the
// Query, it is followed by the one with the smallest blocks that does. If none does, it is
// followed by the one that reaches the rate with the least memory, if that has larger blocks.
// Filters take at least that many bits per key.
func (q Query) findWithLarger(find finder, leastBits float64) (o Option, larger *Option, err error) {
	o, err = find(q)
	if err != nil || o.FilterOnly || o.meets() || !o.MeetsRate && (o.BlockBits == 0 || !q.measurable()) { // larger blocks do not help
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
	o := q.option(newDesign(0, tableFilter{}, q.BlockSize))
	return q.Memory == 0 || o.MemoryBytes+bitsPerKey/8*float64(q.Keys) <= float64(q.Memory)
}

// findFuse returns the finder of filters of fingerprints with that many bits.
func findFuse(bits int) finder {
	return func(q Query) (Option, error) {
		return q.measured(newDesign(0, tableFilter{fuseBits: bits}, q.BlockSize))
	}
}

// findBloom finds filters by blocks.
func findBloom(q Query) (Option, error) {
	byBits := func(bits int) Design { return newDesign(bits, tableFilter{}, q.BlockSize) }
	formula, err := q.formula()
	if err != nil {
		return Option{}, err
	}
	return q.find(byBits, byBits(formula.BitsPerKey), q.fewest(byBits))
}

// usefulBloomBits are the bits per key from which on a TableBloom gains little.
const usefulBloomBits = 20

// findTableBloom finds TableBloom filters in tables with data, or without if the BlockSize is 0.
func findTableBloom(q Query) (Option, error) {
	byBits := func(bits int) Design { return newDesign(0, tableFilter{bloomBits: bits}, q.BlockSize) }
	return q.find(byBits, byBits(usefulBloomBits), q.fewest(byBits))
}

// findBoth finds filters by blocks and a TableBloom: with half of the given bits each, or
// those two that take the fewest bits together.
func findBoth(q Query) (Option, error) {
	both := func(blocks, bloom int) Design { return newDesign(blocks, tableFilter{bloomBits: bloom}, q.BlockSize) }
	halves := func(bits int) Design { return both(max(1, bits/2), (bits+1)/2) }
	rates := q.newPairRates()
	return q.find(halves, both(usefulBloomBits, usefulBloomBits), func(target float64) (Design, bool) {
		blocks, bloom := rates.fewest(target, func(blocks, bloom int) float64 { return q.option(both(blocks, bloom)).predict() })
		return both(blocks, bloom), blocks > 0
	})
}

// find finds the Option of a kind: with the bits per key that are given, or the first Design from next that is measured
// to reach the rate. next gets lower targets after each that does not. If it has no more, the Option is that of the
// last Design, which shows how far the kind goes.
func (q Query) find(byBits func(bits int) Design, last Design, next func(target float64) (Design, bool)) (Option, error) {
	if q.Rate == 0 {
		return q.measured(byBits(q.BitsPerKey))
	}
	for target := q.Rate; q.measurable(); {
		d, ok := next(target)
		if !ok {
			break
		}
		o, err := q.measured(d)
		if err != nil || o.MeetsRate {
			return o, err
		}
		target *= min(0.9, q.Rate/o.upper())
	}
	return q.measured(last)
}

// fewest returns a function for find: each call returns the Design with the next bits per key whose predicted rate is
// low enough. More than maxBits can have a higher rate.
func (q Query) fewest(byBits func(bits int) Design) func(float64) (Design, bool) {
	bits := 0
	return func(float64) (d Design, ok bool) {
		for bits++; bits <= maxBits; bits++ {
			if d = byBits(bits); q.option(d).predict() <= q.Rate {
				return d, true
			}
		}
		return d, false
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

// fewest returns the bits of both filters, as few as possible together, that are predicted to reach
// the rate. The errors of both are not independent, and the prediction takes longer than the product
// of their rates, which is lower: of as many bits, those with the lowest product are tried.
func (r *pairRates) fewest(rate float64, predict func(blocks, bloom int) float64) (blocks, bloom int) {
	for total := 2; total <= maxPairBits; total++ {
		least := rate
		for b := 1; b < total; b++ {
			if product := r.block(b) * r.blooms[total-b]; product <= least {
				least, blocks, bloom = product, b, total-b
			}
		}
		if blocks+bloom == total && predict(blocks, bloom) <= rate {
			return blocks, bloom
		}
	}
	return 0, 0
}

// block returns the predicted rate of filters by blocks.
func (r *pairRates) block(bits int) float64 {
	if bits == len(r.blocks) {
		r.blocks = append(r.blocks, predictBlocks(r.keysPerFilter, bits))
	}
	return r.blocks[bits]
}
