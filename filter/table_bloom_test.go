package filter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// plainTableContains is a TableBloom filter's Contains, written as the format is
// described.
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

func tableFilter(t *testing.T, bitsPerKey int, keys [][]byte) []byte {
	t.Helper()
	g := NewTableBloom(bitsPerKey).NewTableGenerator()
	for _, k := range keys {
		g.Add(k)
	}
	f, err := g.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Filters are those of the plain version, and Contains gives its answers.
func TestTableBloomIsThePlainFilter(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 14))
	for _, bitsPerKey := range []int{0, 1, 5, 10, 16, 44, 100} {
		t.Run(fmt.Sprintf("bits=%d", bitsPerKey), func(t *testing.T) {
			for _, n := range []int{1, 2, 50, 51, 52, 1000} {
				keys := filtertest.Keys(rng, n)
				f := tableFilter(t, bitsPerKey, keys)
				lines, k := (len(f)-5)/64, int(f[len(f)-5])
				if want := plainTableFilter(lines, k, keys); !bytes.Equal(f, want) {
					t.Fatalf("%d keys: %d bytes, want %d others", n, len(f), len(want))
				}
				checkTableContains(t, rng, f, keys)
			}
		})
	}
}

// Other writers set more bits for each key, as Pebble does with more than 10 bits per key.
func TestTableBloomOfManyProbes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(15, 15))
	for k := 1; k <= maxLineK; k++ {
		keys := filtertest.Keys(rng, 300)
		checkTableContains(t, rng, plainTableFilter(1+2*rng.IntN(10), k, keys), keys)
	}
}

// checkTableContains compares Contains with the plain version.
func checkTableContains(t *testing.T, rng *rand.Rand, f []byte, keys [][]byte) {
	t.Helper()
	r, err := NewTableBloom(0).Open(f)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range append(keys, filtertest.Keys(rng, 2000)...) {
		want := plainTableContains(f, key)
		if i < len(keys) && !want {
			t.Fatalf("%d keys: no %x, which was added", len(keys), key)
		}
		if got := r.Contains(key); got != want {
			t.Fatalf("%d keys, k = %d: Contains(%x) = %v, want %v", len(keys), f[len(f)-5], key, got, want)
		}
	}
}

// Lines, k, and the rate of false positives.
func TestTableBloomHasTheLinesAndTheRateItSays(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct {
		bitsPerKey, keys, lines, k int
		rate                       float64 // at most
	}{
		{math.MinInt, 10, 1, 1, 1},
		{10, 1, 1, 6, 0},
		{10, 51, 1, 6, 0.02},
		{10, 52, 3, 6, 0.001}, // 2 is even
		{10, 10_000, 197, 6, 0.0125},
		{8, 10_000, 157, 5, 0.024},
		{16, 10_000, 313, 6, 0.0028},
		{20, 10_000, 391, 6, 0.0017},
		{44, 10_000, 861, 6, 0.0009},
	} {
		t.Run(fmt.Sprintf("bits=%d/keys=%d", tt.bitsPerKey, tt.keys), func(t *testing.T) {
			var keys [][]byte
			for i := range tt.keys {
				keys = append(keys, fmt.Appendf(nil, "key %d", i))
			}
			f := tableFilter(t, tt.bitsPerKey, keys)
			r, err := NewTableBloom(0).Open(f)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprint(tt.lines*64+5, tt.k, tt.lines)
			if got := fmt.Sprint(len(f), f[len(f)-5], binary.LittleEndian.Uint32(f[len(f)-4:])); got != want {
				t.Errorf("bytes, k, lines = %s, want %s", got, want)
			}
			positives := 0
			for i := range 100_000 {
				if r.Contains(fmt.Appendf(nil, "absent key %d", i)) {
					positives++
				}
			}
			if rate := float64(positives) / 100_000; rate > tt.rate {
				t.Errorf("%.3f %% false positives, want at most %.3f %%", 100*rate, 100*tt.rate)
			}
		})
	}
}

// Versions of a key count once. Without keys the filter has no lines.
func TestTableBloomCountsVersionsOnce(t *testing.T) {
	key := []byte("the same")
	many, once := tableFilter(t, 10, slices.Repeat([][]byte{key}, 1000)), tableFilter(t, 10, [][]byte{key})
	if !bytes.Equal(many, once) {
		t.Errorf("one key, a thousand times: %d bytes, want %d as for the key once", len(many), len(once))
	}
	none := tableFilter(t, 10, nil)
	if want := make([]byte, 5); !bytes.Equal(none, want) {
		t.Errorf("no keys: %x, want %x", none, want)
	}
	checkTableContainsNothing(t, none)
}

// checkTableContainsNothing asks a filter without keys for some.
func checkTableContainsNothing(t *testing.T, none []byte) {
	t.Helper()
	f, err := NewTableBloom(10).Open(none)
	if err != nil {
		t.Fatal(err)
	}
	keys := filtertest.Keys(rand.New(rand.NewPCG(16, 16)), 100)
	results := make([]bool, len(keys))
	f.(*tableBloomFilter).ContainsMany(keys, results)
	for i, key := range keys {
		if f.Contains(key) || results[i] {
			t.Fatalf("a filter without keys contains %x", key)
		}
	}
}

// Open refuses a filter that it cannot use.
func TestTableBloomRefusesDamage(t *testing.T) {
	t.Parallel()
	line := string(make([]byte, 64))
	p := NewTableBloom(10)
	for _, tt := range []struct {
		name, filter string
		ok           bool
	}{
		{"sound", line + "\x06\x01\x00\x00\x00", true},
		{"an even number of lines", line + line + "\x06\x02\x00\x00\x00", true},
		{"the highest k", line + "\x7f\x01\x00\x00\x00", true},
		{"empty", "", false},
		{"cut short", "\x06\x01\x00\x00\x00", false},
		{"no lines: no keys", "\x00\x00\x00\x00\x00", true},
		{"no lines, but k", "\x01\x00\x00\x00\x00", false},
		{"n = 0, but a line", line + "\x06\x00\x00\x00\x00", false},
		{"n = 2, but one line", line + "\x06\x02\x00\x00\x00", false},
		{"lines of 128 bytes", line + line + "\x06\x01\x00\x00\x00", false},
		{"n = 2³²−1, but one line", line + "\x06\xff\xff\xff\xff", false},
		{"a line and a half", line + line[:32] + "\x06\x01\x00\x00\x00", false},
		{"k = 0", line + "\x00\x01\x00\x00\x00", false},
		{"k = −1, RocksDB's FastLocalBloom", line + "\xff\x01\x00\x00\x00", false},
		{"k = −128", line + "\x80\x01\x00\x00\x00", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if f, err := p.Open([]byte(tt.filter)); (err == nil) != tt.ok || (f != nil) != tt.ok {
				t.Errorf("Open = %v, %v", f, err)
			}
		})
	}
}

func TestLineCountIsBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ keys, bitsPerKey, want uint64 }{
		{1, 0, 1},
		{1 << 30, 10, maxLines},
		{math.MaxUint64, 1, maxLines},
		{1, math.MaxInt64, maxLines},
		{maxLines * lineBits / 10, 10, maxLines},
	} {
		t.Run(fmt.Sprintf("keys=%d/bits=%d", tt.keys, tt.bitsPerKey), func(t *testing.T) {
			if got := (TableBloom{bitsPerKey: int(tt.bitsPerKey)}).lines(tt.keys); got != tt.want {
				t.Errorf("lines = %d, want %d", got, tt.want)
			}
		})
	}
}
