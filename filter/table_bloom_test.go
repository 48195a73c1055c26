package filter_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// plainTableContains is a TableBloom filter's Contains, implemented as the format is documented.
func plainTableContains(filter, key []byte) bool {
	size := len(filter) - 5
	n, h := binary.LittleEndian.Uint32(filter[size+1:]), plainSignedHash(key)
	line, delta := filter[h%n*64:][:64], h>>17|h<<15
	for range filter[size] {
		bit := h % 512
		if line[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		h += delta
	}
	return true
}

// plainTableFilter is a filter of lines in which each key sets k bits.
func plainTableFilter(lines, k int, keys [][]byte) []byte {
	filter := make([]byte, 64*lines, 64*lines+5)
	for _, key := range keys {
		h := plainSignedHash(key)
		line, delta := filter[int(h%uint32(lines))*64:][:64], h>>17|h<<15
		for range k {
			line[h%512/8] |= 1 << (h % 8)
			h += delta
		}
	}
	return binary.LittleEndian.AppendUint32(append(filter, byte(k)), uint32(lines))
}

func plainSignedHash(key []byte) uint32 {
	h := 0xbc9f1d34 ^ uint32(len(key))*0xc6a4a793
	for ; len(key) >= 4; key = key[4:] {
		h += binary.LittleEndian.Uint32(key)
		h *= 0xc6a4a793
		h ^= h >> 16
	}
	for i, c := range key {
		h += uint32(int32(int8(c))) << (8 * i)
	}
	if len(key) > 0 {
		h *= 0xc6a4a793
		h ^= h >> 24
	}
	return h
}

// Filters are identical to the plain version's, with the policy's number of lines and k, and Contains agrees with
// it.
func TestTableBloomIsThePlainFilter(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 14))
	for _, bitsPerKey := range []int{math.MinInt, 0, 1, 5, 10, 16, 44, 100} {
		p := filter.NewTableBloom(bitsPerKey)
		for _, n := range []int{1, 2, 50, 51, 52, 1000} {
			keys := slices.CompactFunc(filtertest.Keys(rng, n), bytes.Equal)
			f := filtertest.BuildTable(t, p, keys...)
			lines := (p.Size(uint64(len(keys))) - 5) / 64
			if want := plainTableFilter(lines, p.K(), keys); !bytes.Equal(f, want) {
				t.Fatalf("%d bits, %d keys: %d bytes, want %d others", bitsPerKey, n, len(f), len(want))
			}
			checkTableContains(t, rng, f, keys)
		}
	}
}

// Other writers set more bits for each key, as Pebble does with more than 10 bits per key.
func TestTableBloomOfManyProbes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(15, 15))
	for k := 1; k <= 127; k++ { // the highest
		keys := filtertest.Keys(rng, 300)
		checkTableContains(t, rng, plainTableFilter(1+rng.IntN(20), k, keys), keys)
	}
}

// checkTableContains compares Contains, and ProbeTable's first clear bit, with the plain version.
func checkTableContains(t *testing.T, rng *rand.Rand, f []byte, keys [][]byte) {
	t.Helper()
	r := openTable(t, f)
	for i, key := range append(keys, filtertest.Keys(rng, 2000)...) {
		want := plainTableContains(f, key)
		if i < len(keys) && !want {
			t.Fatalf("%d keys: no %x, which was added", len(keys), key)
		}
		p, _ := filter.ProbeTable(r, key)
		if got := r.Contains(key); got != want || (p.Clear < 0) != want {
			t.Fatalf("%d keys, k = %d: Contains(%x) = %v, want %v; ProbeTable = %+v", len(keys), f[len(f)-5], key, got, want, p)
		}
	}
}

// Versions of a key count once. Without keys the filter has no lines, and contains nothing.
func TestTableBloomCountsVersionsOnce(t *testing.T) {
	t.Parallel()
	p := filter.NewTableBloom(10)
	many, once := filtertest.BuildTable(t, p, slices.Repeat([]string{"the same"}, 1000)...), filtertest.BuildTable(t, p, "the same")
	if !bytes.Equal(many, once) {
		t.Errorf("one key, a thousand times: %d bytes, want %d as for the key once", len(many), len(once))
	}
	none := filtertest.BuildTable[string](t, p)
	if want := make([]byte, 5); !bytes.Equal(none, want) {
		t.Errorf("no keys: %x, want %x", none, want)
	}
	f, keys := openTable(t, none), filtertest.Keys(rand.New(rand.NewPCG(16, 16)), 100)
	results := make([]bool, len(keys))
	f.ContainsMany(keys, results)
	if slices.Contains(results, true) || slices.ContainsFunc(keys, f.Contains) {
		t.Error("a filter without keys contains a key")
	}
}
