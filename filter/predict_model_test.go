package filter

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/long"
)

// Third bits are limited to some places. The model gives each place the same share of random hashes as measured: it
// depends on how often h + 2δ overflows, and on the position in the array.
func TestThirdBitsHaveThePlacesOfRandomHashes(t *testing.T) {
	t.Parallel()
	const (
		samples  = 1 << 21
		quarters = 4
		m        = bloom.MaxBits // so that nearly every hash is its own bit
	)
	var measured, predicted [3][quarters]float64 // by overflows of h + 2δ, and by the quarter of the array
	rng := rand.New(rand.NewPCG(17, 17))
	for range samples {
		h := rng.Uint32()
		sum := uint64(h) + 2*uint64(h>>17|h<<15)
		measured[sum>>32][uint32(sum)>>30] += 1.0 / samples
	}
	model := newBitModel(1, m, 3)
	for overflows := range uint64(3) {
		for j := fermat - overflows; j < m; j += fermat {
			clear := model.clear[j%uint64(len(model.clear))]
			predicted[overflows][j>>30] -= math.Log((1 - model.bit(j)) / clear)
		}
	}
	for overflows, shares := range measured {
		for quarter, want := range shares {
			if got := predicted[overflows][quarter]; math.Abs(got-want) > 0.002 {
				t.Errorf("%d overflows, quarter %d: %.4f of the third bits, measured %.4f", overflows, quarter, got, want)
			}
		}
	}
}

// A key sets k bits, so the probabilities of all bits of a filter of one key add up to k, whether or not third bits
// are limited to some places, and for any divisors of the length.
func TestBitsOfAKeyAddUpToK(t *testing.T) {
	t.Parallel()
	for _, m := range []uint64{8 * 1000, 8 * 17 * 100, 8 * 8191, 8 * 8192, 8 * fermat, 8 * 255 * 300} {
		for k := 1; k <= 8; k++ {
			model, sum := newBitModel(1, m, k), 0.0
			for j := range m {
				sum += model.bit(j)
			}
			if math.Abs(sum-float64(k)) > 0.01*float64(k) {
				t.Errorf("%d bits: a key sets %.3f of them, want %d", m, sum, k)
			}
		}
	}
}

// The bits of some keys coincide, since δ is 0 or a multiple of a large power of 2 mod 512. The rate of a line is
// the mean over all δ, computed from the number of different bits of a key, or little more.
func TestLineRateCountsDifferentBits(t *testing.T) {
	t.Parallel()
	for _, k := range []int{1, 2, 3, 6, 16, 17, 64, maxLineK} {
		for keys := 1.0; keys <= 4; keys++ {
			mean := 0.0
			for delta := range lineBits {
				mean += float64(differentBits(k, delta)) / lineBits
			}
			fill, want := 1-math.Pow(1-mean/lineBits, keys), 0.0
			for delta := range lineBits {
				want += math.Pow(fill, float64(differentBits(k, delta))) / lineBits
			}
			if got := lineRate(keys, k); got < want-1e-12 || got > want+0.001 {
				t.Errorf("k = %d, %v keys in a line: rate %.6f, want %.6f and little more", k, keys, got, want)
			}
		}
	}
}

// RocksDB's and Pebble's filters can have any odd number of lines, and more bits per key.
func TestPredictTableRateKnowsLinesOfOtherWriters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(18, 18))
	for _, tt := range []struct {
		lines uint64
		bits  float64
		k     int
	}{{1285, 16, 11}, {8193, 10, 6}, {16_385, 16, 11}, {18_725, 10, 6}, {32_767, 20, 6}, {131_073, 10, 6}}[:long.Size(2, 6)] {
		if tt.lines > 20_000 && !long.Enabled() {
			continue
		}
		f := tableBloomFilter{lines: make([]byte, tt.lines*lineSize), n: tt.lines, reciprocal: math.MaxUint64/tt.lines + 1, k: tt.k}
		n := uint64(float64(tt.lines*lineBits) / tt.bits)
		for range n {
			f.setAll([]uint32{rng.Uint32()})
		}
		want, lookups, hits := PredictTableRate(n, tt.lines, tt.k), 1_000_000, 0
		for range lookups {
			if f.mayContain(rng.Uint32()) {
				hits++
			}
		}
		got, band := float64(hits)/float64(lookups), 0.07+3/math.Sqrt(float64(hits))
		if got < want*(1-band) || got > want*(1+band) {
			t.Errorf("%d lines, %v bits per key, k = %d: measured %.5f %%, predicted %.5f %%", tt.lines, tt.bits, tt.k, 100*got, 100*want)
		}
	}
}

func differentBits(k, delta int) int {
	different := map[int]bool{}
	for i := range k {
		different[i*delta%lineBits] = true
	}
	return len(different)
}
