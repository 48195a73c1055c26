package filter

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/internal/bloom"
)

// PredictRate returns the false-positive rate, 0 to 1, that one [Bloom] filter of n random
// keys is expected to have. bits is the length of its bit array in bits: 8 times that of
// the filter without its last byte. k is that last byte.
//
// The rate is higher than that of the classical formula, (1 − e^(−kn/m))^k with m bits. At 10
// bits per key the formula gives 0.84 %, and filters of a million keys have 1.25 to 1.4 %.
// The reasons are:
//
//   - The filter knows a 32-bit hash of each key. An absent key has the hash of one of n
//     keys with probability 1 − e^(−n/2³²).
//   - The bits of a key with hash h are h + i·δ mod 2³² mod m, where δ = h·2¹⁵ mod 2³²−1.
//     The third one is thus h·65537 mod 2³²−1, and 65537 divides 2³²−1: it has only about
//     3·2¹⁶ places. In a filter of 10⁵ keys or more most of these are set, and a lookup
//     does not learn much from its third bit.
//   - 3, 5 and 17 divide 2³²−1 too. If one of them divides m, some of the k bits are set
//     more often at some remainders than at others. This is why filters of 99,999 and of
//     100,000 keys, at 10 bits per key, have rates of 1.16 % and 1.45 %.
//   - In a small filter the k bits of a key often coincide, with each other and with those
//     of another key.
//
// The first three are computed, by looking up a fixed sample of hashes in a filter of which
// only the probability of each bit is known. The last one is estimated, and for < 300 keys the rate
// is measured by filters of a fixed sample of hashes. With 1 to 16 bits per key, the mean measured
// rate of filters is within 7 % of the prediction, and with 17 to 24 bits within 35 %: those err too
// rarely for more. More bits per key than that have no known bounds. The exceptions are these m, at
// which whole sequences of bits coincide:
//
//   - If 257 divides m, the rate can be 2.3 times as high, with 20 bits per key.
//   - At and near multiples of 65,535 and 65,537 it can be 30 times as high: a filter of
//     26,214 keys with 20 bits for each has 0.29 %.
//
// PredictRate takes 1 to 160 milliseconds, more for more keys or bits.
//
// It returns 0 if n is 0 or bits < 8, and 1 if k > 30 or k < 1, as such filters have no keys
// or may contain all. Bits > 2³²−8 count as 2³²−8.
func PredictRate(n, bits uint64, k int) float64 {
	switch bits = min(bits, bloom.MaxBits); {
	case n == 0 || bits < 8:
		return 0
	case k < 1 || k > bloom.MaxK:
		return 1
	case n < fewKeys && bits < fewKeys*100:
		return measureRate(n, bits/8*8, k)
	}
	keys, m := float64(n), float64(bits)
	p := newBitModel(n, bits, k).rate()
	p += 2 * keys / (m * m) // of keys whose bits follow the same sequence: measured
	return min(1, p+(1-p)*-math.Expm1(-keys/(1<<32)))
}

// fermat is the prime 2¹⁶+1, which divides 2³²−1.
const fermat = 1<<16 + 1

// A bitModel is a filter of random keys, of which only the probability of each bit is
// known.
type bitModel struct {
	n float64
	m uint64
	k int

	// clear is the probability that bit j is clear, by j mod len(clear), if it is no place of third
	// bits.
	clear []float64

	// placesMatter says whether third bits have their own places: in a smaller filter, each
	// bit is such a place. Bit j is one if j + t·m mod fermat is 0, −1 or −2 for a j + t·m <
	// 2³². inverse is that of m mod fermat.
	placesMatter bool
	inverse      uint64
}

func newBitModel(n, m uint64, k int) *bitModel {
	b := &bitModel{n: float64(n), m: m, k: k, clear: make([]float64, gcd(m, 3*5*17)), placesMatter: k > 2 && m > fermat && m%fermat != 0, inverse: 1}
	for range fermat - 2 { // Fermat's little theorem
		b.inverse = b.inverse * m % fermat
	}
	// Bits of a key that coincide set one bit less.
	distinct := 1 - float64(k-1)/float64(2*m)
	for r := range b.clear {
		b.clear[r] = math.Exp(b.n * math.Log1p(-min(distinct*b.perKey(uint64(r)), 1)))
	}
	return b
}

// perKey returns the probability that a key sets bit j, which has that remainder. It leaves
// the third bit out if its places matter.
func (b *bitModel) perKey(remainder uint64) float64 {
	p := 0.0
	for i := range uint64(b.k) {
		g := gcd(1+i<<15, uint64(len(b.clear)))
		for overflows := uint64(0); overflows <= i && (i != 2 || !b.placesMatter); overflows++ {
			if (overflows+remainder)%g == 0 {
				p += overflowProbability(i, overflows) * float64(g) / float64(b.m)
			}
		}
	}
	return p
}

// overflowProbability returns the probability that h + i·δ is ≥ overflows·2³² and less than
// that plus 2³².
func overflowProbability(i, overflows uint64) float64 {
	switch {
	case i == 0:
		return 1
	case overflows == 0 || overflows == i:
		return 1 / float64(2*i)
	}
	return 1 / float64(i)
}

// bit returns the probability that bit j is set.
func (b *bitModel) bit(j uint64) float64 {
	third := 0.0 // the probability that it is the third bit of a key
	for overflows := uint64(0); overflows < 3 && b.placesMatter; overflows++ {
		missing := (2*fermat - overflows - j%fermat) % fermat
		for v := missing*b.inverse%fermat*b.m + j; v <= math.MaxUint32; v += fermat * b.m {
			x := float64(v) / (1 << 32)
			third += [3]float64{x / 2, 0.5, (1 - x) / 2}[overflows] / (1 << 16)
		}
	}
	clear := b.clear[j%uint64(len(b.clear))]
	if third > 0 {
		clear *= math.Exp(-b.n * third)
	}
	return 1 - clear
}

// rate returns the mean probability that all bits of a hash are set.
func (b *bitModel) rate() float64 {
	const samples = 1 << 16
	rng := rand.New(rand.NewPCG(1, 1))
	sum := 0.0
	for range samples {
		if b.placesMatter {
			sum += b.mayContainLarge(rng)
		} else {
			sum += b.mayContainSmall(rng.Uint32())
		}
	}
	return sum / samples
}

// mayContainSmall returns the probability that all bits of the hash h are set, in a small
// filter, where some of them can be the same bit.
func (b *bitModel) mayContainSmall(h uint32) float64 {
	p := 1.0
	var seen [bloom.MaxK]uint32
	delta := bloom.Delta(h)
	for i := range b.k {
		j := h % uint32(b.m)
		if seen[i] = j; !slices.Contains(seen[:i], j) {
			p *= b.bit(uint64(j))
		}
		h += delta
	}
	return p
}

// mayContainLarge returns the probability that all bits of a hash are set, in a filter where
// the places of third bits matter: the mean of a few hashes. Those whose first three bits are
// set are rare, but decide about low rates. So of the other hashes only one is looked up to
// its end, and counts for all.
func (b *bitModel) mayContainLarge(rng *rand.Rand) float64 {
	const hashes = 4
	sum := 0.0
	for s := range hashes {
		h, p := rng.Uint32(), 1.0
		delta := bloom.Delta(h)
		for i := range b.k {
			p *= b.bit(uint64(h % uint32(b.m)))
			if i == 2 && p < 0.5 {
				if s > 0 {
					p = 0
					break
				}
				p *= hashes
			}
			h += delta
		}
		sum += p
	}
	return sum / hashes
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
