package bloom

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
)

// The values are those of LevelDB's own test, util/hash_test.cc.
func TestHashIsThatOfLevelDB(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		data string
		want uint32
	}{
		{"", 0xbc9f1d34},
		{"\x62", 0xef1345c4},
		{"\xc3\x97", 0x5b663814},
		{"\xe2\x99\xa5", 0x323c078f},
		{"\xe1\x80\xb9\x32", 0xed21633a},
	} {
		t.Run(fmt.Sprintf("%q", tt.data), func(t *testing.T) {
			if got := Hash([]byte(tt.data), UnsignedTail); got != tt.want {
				t.Errorf("hash = %#x, want %#x", got, tt.want)
			}
		})
	}
}

// Remainders without a division are exact, for arrays of any size up to MaxBits/8 bytes.
func TestProberTakesExactRemainders(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	sizes := []int{MaxBits/8 - 1, MaxBits / 8, 1 << 20, 1<<28 - 1, 1 << 28, 1<<28 + 1}
	for n := 1; n < 2*len(reciprocals); n++ {
		sizes = append(sizes, n)
	}
	for range 1000 {
		sizes = append(sizes, 1+rng.IntN(MaxBits/8))
	}
	for _, n := range sizes {
		p, bits := NewProber(n), 8*uint64(n)
		hashes := []uint32{0, 1, math.MaxUint32, math.MaxUint32 - 1}
		for range 200 {
			multiple := bits * (1 + rng.Uint64()%max(1, math.MaxUint32/bits))
			hashes = append(hashes, rng.Uint32(), uint32(multiple-1), uint32(multiple), uint32(multiple+1))
		}
		for _, h := range hashes {
			want := uint64(h) % bits
			if index, bit := p.at(h); index != want/8 || bit != want%8 {
				t.Fatalf("%d bytes: hash %d is bit %d of byte %d, want bit %d of byte %d", n, h, bit, index, want%8, want/8)
			}
			if got := p.Bit(h); uint64(got) != want {
				t.Fatalf("%d bytes: hash %d is bit %d, want %d", n, h, got, want)
			}
		}
	}
	if got, want := NewProber(MaxBits/8+10), NewProber(MaxBits/8); got != want {
		t.Errorf("above the largest array: %v, want what it has: %v", got, want)
	}
}

// plainContains is MayContain as the format's description defines it.
func plainContains(filter []byte, h uint32) bool {
	n := len(filter) - 1
	if n < 1 {
		return false
	}
	if filter[n] > MaxK {
		return true
	}
	delta := h>>17 | h<<15
	for range filter[n] {
		bit := h % uint32(8*n)
		if filter[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		h += delta
	}
	return true
}

func TestMayContainAnswersAsTheFormatSays(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	yes := 0
	for range 300_000 {
		f := make([]byte, rng.IntN(64))
		for i := range f {
			f[i] = byte(rng.Uint32() | rng.Uint32() | rng.Uint32()) // dense, so that some are contained
		}
		if len(f) > 0 {
			f[len(f)-1] = byte(rng.IntN(MaxK + 2))
		}
		h := rng.Uint32()
		got, want := MayContain(f, h), plainContains(f, h)
		if got != want {
			t.Fatalf("MayContain(%x, %#x) = %v, want %v", f, h, got, want)
		}
		if got {
			yes++
		}
	}
	if yes < 30_000 || yes > 270_000 {
		t.Errorf("%d of 300000 contained: too few of one answer to have tested both", yes)
	}
}
