package fuse_test

import (
	"math"
	"testing"

	"github.com/sievetable/sievetable/filter/fuse"
)

// ForRate chooses the fewest bits that reach the rate.
func TestForRateTakesTheFewestBits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rate float64
		bits int
	}{{0.999, 4}, {0.0625, 4}, {0.06, 8}, {0.0039, 10}, {0.0001, 14}, {0.00002, 16}} {
		p, err := fuse.ForRate(tt.rate)
		noError(t, err)
		if p.Bits() != tt.bits || p.Rate() > tt.rate {
			t.Errorf("rate %g: %d bits, of rate %g, want %d bits", tt.rate, p.Bits(), p.Rate(), tt.bits)
		}
	}
	for _, rate := range []float64{0.00001, 0, -1, 1, math.Inf(1), math.NaN()} {
		if p, err := fuse.ForRate(rate); err == nil {
			t.Errorf("rate %g: %d bits, want an error", rate, p.Bits())
		}
	}
}
