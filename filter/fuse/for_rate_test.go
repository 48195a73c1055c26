package fuse_test

import (
	"fmt"
	"math"
	"strings"
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
	const outside = "must be > 0 and < 1"
	for rate, want := range map[float64]string{
		0.00001: "use module filter/blocked, whose lowest rate is 1e-9", 0: outside, -1: outside, 1: outside,
		math.Inf(1): outside, math.NaN(): outside,
	} {
		if p, err := fuse.ForRate(rate); !strings.HasSuffix(fmt.Sprint(err), want) {
			t.Errorf("rate %g: %d bits, error %v, want %q", rate, p.Bits(), err, want)
		}
	}
}
