package plan

import (
	"math"

	"github.com/sievetable/sievetable/filter/fuse"
)

// A finder returns the Option of one kind of filters for the Query: with the given number of bits, or with the
// fewest bits whose predicted and measured rates are low enough. If there is none, it returns an Option that
// shows how far the kind goes, whose MeetsRate is false.
type finder func(q Query) (Option, error)

// measured returns the Option of the Design, with its rates. A fuse filter is chosen if its fingerprints have the
// size for the Query. It is then measured with as many keys as planned.
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

// findWithLarger finds the Option at the Query's block size. If that does not meet the Query, larger is the
// Option with the smallest blocks that does. If none does, larger is the one that reaches the rate with the least
// memory, if it has larger blocks than o.
func (q Query) findWithLarger(find finder) (o Option, larger *Option, err error) {
	o, err = find(q)
	if err != nil || o.FilterOnly || o.meets() || !o.MeetsRate && (o.BlockBits == 0 || !q.measurable()) { // larger blocks do not help
		return o, nil, err
	}
	nearest, last := o, o
	for q.BlockSize *= 2; q.BlockSize <= maxBlockSize && !last.isOneBlock(); q.BlockSize *= 2 {
		isLargest := 2*q.BlockSize > maxBlockSize // usually the one with the least memory
		if nearest.MeetsRate && !isLargest && !q.mayFit(o.table) {
			continue
		}
		l, err := find(q)
		if err != nil || l.meets() {
			return o, &l, err
		}
		last = l
		if l.MeetsRate && (!nearest.MeetsRate || l.MemoryBytes < nearest.MemoryBytes) {
			nearest, larger = l, &l
		}
	}
	return o, larger, nil
}

// mayFit reports whether the index fits into the memory, together with the fewest bits that Bloom filters for the
// Query can have. It assumes no bits for fuse filters: they have fewer, and are not measured again for each block
// size.
func (q Query) mayFit(f tableFilter) bool {
	bits := float64(q.BitsPerKey)
	if q.Rate > 0 {
		bits = math.Log2(1/q.Rate) / math.Ln2
	}
	if f.fuseBits > 0 {
		bits = 0
	}
	o := q.option(newDesign(0, tableFilter{}, q.BlockSize))
	return o.MemoryBytes+bits/8*float64(q.Keys) <= float64(q.Memory)
}

// findBloom finds block filters.
func findBloom(q Query) (Option, error) {
	return q.findOne(func(bits int) Design { return newDesign(bits, tableFilter{}, q.BlockSize) }, q.formulaBits())
}

// usefulBloomBits is the number of bits per key beyond which a TableBloom gains little.
const usefulBloomBits = 20

// findTableBloom finds TableBloom filters in tables with data, or without if the BlockSize is 0.
func findTableBloom(q Query) (Option, error) {
	return q.findOne(func(bits int) Design { return newDesign(0, tableFilter{bloomBits: bits}, q.BlockSize) }, usefulBloomBits)
}

// findOne finds a single filter. It tries at most maxBits, since more bits can have a higher rate.
func (q Query) findOne(byBits func(bits int) Design, last int) (Option, error) {
	return q.find(byBits, byBits(last), maxBits, func(bits int, _ float64) (Design, bool) {
		d := byBits(bits)
		return d, q.option(d).predict() <= q.Rate
	})
}

// maxPairBits is the maximum number of bits per key of both filters together.
const maxPairBits = 50

// findBoth finds block filters with a TableBloom: with half of the given bits each, or the pair that takes the
// fewest bits together. Their errors are not independent, so predicting their common rate takes longer than
// multiplying their rates, which gives a lower result. So for each number of bits, only the pair with the lowest
// product is tried.
func findBoth(q Query) (Option, error) {
	both := func(blocks, bloom int) Design { return newDesign(blocks, tableFilter{bloomBits: bloom}, q.BlockSize) }
	halves := func(bits int) Design { return both(max(1, bits/2), (bits+1)/2) }
	var blockRates, bloomRates []float64 // by bits per key; 1 for 0 bits
	return q.find(halves, both(usefulBloomBits, usefulBloomBits), maxPairBits, func(bits int, target float64) (best Design, ok bool) {
		o := q.option(both(bits-1, bits-1))
		blockRates = append(blockRates, predictBlocks(o.KeysPerFilter, o.BlockBits))
		bloomRates = append(bloomRates, o.table.predict(o.KeysPerTable))
		least := target
		for b := 1; b < bits; b++ {
			if product := blockRates[b] * bloomRates[bits-b]; product <= least {
				least, best, ok = product, both(b, bits-b), true
			}
		}
		return best, ok && q.option(best).predict() <= target
	})
}

// A candidate returns the Design with this many bits per key if its predicted rate is ≤ target. It is called with
// 1 bit, 2 bits and so on. After each Design that misses the rate when measured, target is lowered.
type candidate func(bits int, target float64) (d Design, ok bool)

// find finds the Option of a kind: with the given bits per key, or the first candidate of up to most bits that
// reaches the rate. If none does, it returns the Option of last, which shows how far the kind goes.
func (q Query) find(byBits func(bits int) Design, last Design, most int, candidate candidate) (Option, error) {
	if q.Rate == 0 {
		return q.measured(byBits(q.BitsPerKey))
	}
	target := q.Rate
	for bits := 1; bits <= most && q.measurable(); bits++ {
		d, ok := candidate(bits, target)
		if !ok {
			continue
		}
		o, err := q.measured(d)
		if err != nil || o.MeetsRate {
			return o, err
		}
		for o.PredictedRate <= target {
			target *= min(0.9, q.Rate/o.upper())
		}
	}
	return q.measured(last)
}
