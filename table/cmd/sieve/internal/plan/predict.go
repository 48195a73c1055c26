package plan

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/bloom"
)

// predict returns the expected rate of the Option's filters.
func (o Option) predict() float64 {
	blocks, table := predictBlocks(o.KeysPerFilter, o.BlockBits), o.table.predict(o.KeysPerTable)
	if o.BlockBits > 0 && o.table.bloomBits > 0 {
		return o.predictBoth(blocks, table)
	}
	return blocks * table
}

// predictBlocks returns the expected rate of block filters, or 1 if bitsPerKey is 0.
func predictBlocks(keys, bitsPerKey int) float64 {
	if bitsPerKey == 0 {
		return 1
	}
	return filter.NewBloom(bitsPerKey).Rate(uint64(keys))
}

// predict returns the expected rate of the table filter of n keys, or 1 if there is none.
func (f tableFilter) predict(n float64) float64 {
	switch {
	case f.bloomBits > 0:
		return filter.NewTableBloom(f.bloomBits).Rate(uint64(n))
	case f.fuseBits > 0:
		return f.policy().(fuse.Policy).Rate()
	}
	return 1
}

// mostOver bounds the bits per key of a fuse filter, as a multiple of the requested number: fingerprints of 4 and
// 8 bits take 1.13 times as many.
const mostOver = 1.13

// chosenFuse returns the number of fingerprint bits for the Query. For a rate, it is the smallest that reaches
// it, or the largest if none does. For a number of bits per key, it is the closest, or 0 if all take far more.
func (q Query) chosenFuse() (chosen int) {
	least := math.Inf(1)
	for _, bits := range fuseSizes {
		const many = fuse.MaxKeys
		f := tableFilter{fuseBits: bits}
		off := max(f.predict(many), q.Rate)
		if q.Rate == 0 {
			size, asked := 8*f.bytes(many)/many, float64(q.BitsPerKey)
			if off = math.Abs(size - asked); size > mostOver*asked {
				break
			}
		}
		if off < least {
			least, chosen = off, bits
		}
	}
	return chosen
}

// predictBoth returns the expected rate of both filters together. Their errors are not independent, since one
// 32-bit hash decides both results:
//
//   - A key whose hash is that of another key in its block passes both filters.
//   - The bits of a key with hash h are h, h+δ, h+2δ, … in both, and δ is the same. If it is a multiple of a power
//     of 2, they coincide in the line of a TableBloom, and in small block filters.
//
// In tables of ≥ 50 keys, the measured rate is at most 1.8 times the predicted one, and mostly within 15 %. In
// tables of fewer keys it is higher, and far higher with few keys: lines of the TableBloom are then nearly empty,
// and the same hash decides both results. If one of the 1 to 3 bytes after its last whole word is ≥ 128, a key
// has different hashes in the two filters, and rates are lower.
func (o Option) predictBoth(blocks, table float64) float64 {
	collision := -math.Expm1(-float64(o.KeysPerFilter) / (1 << 32))
	blocks = max(0, blocks-collision) / (1 - collision)
	dependence, explained := o.dependence()
	explained = min(blocks, explained) // the rest are keys with the same sequence of bits as a key in the block
	return min(1, collision+(1-collision)*(explained*dependence+blocks-explained)*table)
}

// dependence returns the ratio of the rate of both filters to the rate that they would have if their bits were
// independent. It compares the number of distinct bits that hashes have in both, with a fixed sample for each
// power of 2 that δ can be a multiple of: high powers are rare, but decisive. explained is the rate of the block
// filters that follows from these numbers alone.
func (o Option) dependence() (ratio, explained float64) {
	const samples, lineBits, powers = 1 << 13, 512, 9
	blockBits := bloom.Bits(uint64(o.KeysPerFilter), uint64(o.BlockBits))
	blockK, tableK := filter.NewBloom(o.BlockBits).K(), filter.NewTableBloom(o.table.bloomBits).K()
	blockFill := -math.Expm1(-float64(blockK*o.KeysPerFilter) / float64(blockBits))
	tableFill := -math.Expm1(-float64(tableK) / float64(o.table.bloomBits))
	rng := rand.New(rand.NewPCG(1, 1))
	var block, table, both float64
	for i := range samples * (powers + 1) {
		power := i / samples
		share, delta := math.Ldexp(1, -min(power+1, powers))/samples, rng.Uint32()<<power
		if power < powers {
			delta |= 1 << power
		}
		b := share * math.Pow(blockFill, float64(distinctBits(delta, uint32(blockBits), blockK)))
		t := math.Pow(tableFill, float64(distinctBits(delta, lineBits, tableK)))
		block, table, both = block+b, table+share*t, both+b*t
	}
	return both / (block * table), block
}

// distinctBits returns the number of distinct bits, of m, among the k bits of a key with this δ.
func distinctBits(delta, m uint32, k int) int {
	seen, h := make([]uint32, 0, 30), bits.RotateLeft32(delta, 17)
	for range k {
		if bit := h % m; !slices.Contains(seen, bit) {
			seen = append(seen, bit)
		}
		h += delta
	}
	return len(seen)
}
