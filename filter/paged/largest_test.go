package paged_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/long"
)

// Pages of filters of 2^40 and 2^44 bytes have the usual false-positive rate, although fewer bits of the hash are
// left for the place in a page.
func TestLargestFilters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, pages := range []uint64{1<<28 - 1, 1 << 28, 1 << 32} {
		const keys, lookups = 3273, 200_000 // 10 bits per key
		p := plain{keys: keys * pages, pages: pages, lgPage: 12, hash: 1, k: 7, format: 1}
		key, page := []byte("key"), make([]byte, 4096)
		n, bits := p.bits(xxh3.Hash(key))
		set(page, bits)
		rng := rand.New(rand.NewPCG(50, pages))
		for range keys - 1 {
			_, bits := p.bits(p.anyIn(n, rng))
			set(page, bits)
		}
		p.seal(page, n)
		s, err := paged.ReadShape(p.trailer(), pages*4096+36)
		noError(t, err)
		if err := s.CheckPage(page, n); err != nil || !s.InPage(page, s.Hash(key)) {
			t.Errorf("%d pages: the key is denied, or CheckPage returns %v", pages, err)
		}
		passed := 0.0
		for range lookups {
			h := p.anyIn(n, rng)
			if s.Page(h) != n {
				t.Fatalf("page %d, want %d", s.Page(h), n)
			}
			if s.InPage(page, h) {
				passed++
			}
		}
		if want := newPolicy(t, 10).Rate(keys) * lookups; math.Abs(passed-want) > 0.1*want {
			t.Errorf("%d pages: %.0f of %d absent keys pass, want about %.0f", pages, passed, lookups, want)
		}
	}
}

// anyIn returns the hash of any key in page n.
func (p plain) anyIn(n uint64, rng *rand.Rand) uint64 {
	h, _ := bits.Div64(n, max(rng.Uint64(), p.pages), p.pages)
	return h
}
