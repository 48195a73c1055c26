package blocked_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

func newFilter(t testing.TB, keys uint64, rate float64) *blocked.Filter {
	t.Helper()
	f, err := blocked.New(keys, rate)
	noError(t, err)
	return f
}

// randomRate returns a rate from 10⁻⁷ to 0.5 whose logarithm is uniformly distributed.
func randomRate(rng *rand.Rand) float64 { return math.Pow(10, -0.31-6.69*rng.Float64()) }

// The expected bytes are literals, so that processors of either byte order must write them.
func TestGolden(t *testing.T) {
	t.Parallel()
	f := newFilter(t, 5, 0.001)
	for _, city := range []string{"Bern", "Lima", "Oslo"} {
		f.Add([]byte(city))
	}
	const want = "5369657665426c6b010000000400000001000000000000008eea6275" + // header
		"0000000000000000004800008000000200042000000000000000000000000000" +
		"00000000000000000a0000008000020000000000000004100000000000000000" +
		"6570a42e"
	if diff := cmp.Diff(want, fmt.Sprintf("%x", f.Bytes())); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

// plainContains is Contains, implemented as the format is documented.
func plainContains(contents, key []byte) bool {
	k, n := binary.LittleEndian.Uint32(contents[12:]), binary.LittleEndian.Uint64(contents[16:])
	h := xxh3.Hash(key)
	index, _ := bits.Mul64(h, n)
	for range k / 2 {
		h *= 0xd1342543de82ef95
		word := binary.LittleEndian.Uint64(contents[28+64*index+8*(h>>61):])
		if word>>(h>>55%64)&1 == 0 || word>>(h>>49%64)&1 == 0 {
			return false
		}
	}
	return true
}

// Lookups check the bits that the format documents, even in filters with more keys than planned. AddIfAbsent returns
// the negation of Contains, and sets the same bits as Add.
func TestFormIsAsDescribed(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(81, 1))
	yes, no := 0, 0
	for range 200 {
		n, rate := 1+rng.IntN(500), randomRate(rng)
		madeFor, keys := uint64(1+rng.IntN(n)), filtertest.Keys(rng, n)
		f, added := newFilter(t, madeFor, rate), newFilter(t, madeFor, rate)
		for _, key := range keys {
			maybe := f.Contains(key)
			if f.AddIfAbsent(key) == maybe || f.AddHashIfAbsent(xxh3.Hash(key)) {
				t.Fatalf("AddIfAbsent(%x) = Contains before, %v, or the key is absent after it was added", key, maybe)
			}
			added.Add(key)
		}
		contents := f.Bytes()
		if !bytes.Equal(added.Bytes(), contents) {
			t.Fatal("AddIfAbsent has set other bits than Add")
		}
		filtertest.CheckContains(t, f.Contains, keys)
		for _, key := range append(filtertest.Keys(rng, 200), keys...) {
			got, want := f.Contains(key), plainContains(contents, key)
			if got != want || f.ContainsHash(xxh3.Hash(key)) != want {
				t.Fatalf("Contains(%x) = %v, want %v, as of ContainsHash", key, got, want)
			}
			if got {
				yes++
			} else {
				no++
			}
		}
	}
	if yes < 10_000 || no < 10_000 {
		t.Errorf("%d contained and %d not: too few of one answer to have tested both", yes, no)
	}
}

// A union has all keys of both filters. An intersection has the common keys, and only bits that are set in both.
func TestSetsHaveTheKeysOfBothFilters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(81, 3))
	for range 100 {
		n, rate := 3+rng.IntN(500), randomRate(rng)
		keys := filtertest.Keys(rng, n)
		a, b, all := newFilter(t, uint64(n), rate), newFilter(t, uint64(n), rate), newFilter(t, uint64(n), rate)
		for i, key := range keys {
			if all.Add(key); i < 2*n/3 {
				a.Add(key)
			}
			if i >= n/3 {
				b.Add(key)
			}
		}
		noError(t, a.Intersect(b))
		filtertest.CheckContains(t, a.Contains, keys[n/3:2*n/3])
		before := b.Inspect().Set
		noError(t, a.Union(b))
		if got := a.Inspect().Set; got != before { // an intersection adds nothing to b
			t.Fatalf("%d bits, want %d", got, before)
		}
		for _, key := range keys[:2*n/3] {
			a.Add(key)
		}
		if !bytes.Equal(all.Bytes(), a.Bytes()) {
			t.Fatal("the union has other bits than the filter of all keys")
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	small, large, sparse := newFilter(t, 1, 0.01), newFilter(t, 1000, 0.01), newFilter(t, 1, 1e-6)
	checkFailures(t, []failure{
		{"rate 0", errorOf(blocked.New(10, 0)), "false-positive rate 0: must be 1e-9 to 0.5"},
		{"rate 1", errorOf(blocked.New(10, 1)), "false-positive rate 1: must be 1e-9 to 0.5"},
		{"rate below", errorOf(blocked.New(10, 0.9e-9)), "must be 1e-9 to 0.5"},
		{"no number", errorOf(blocked.New(10, math.NaN())), "false-positive rate NaN"},
		{"too many keys", errorOf(blocked.New(1e12, 0.01)), "1000000000000 keys with a rate of 0.01 takes more than 256 GiB"},
		{"far too many keys", errorOf(blocked.New(math.MaxUint64, 0.5)), "takes more than 256 GiB"},
		{"union of other size", small.Union(large), "union of filters of 1 and 21 lines"},
		{"intersection of other size", large.Intersect(small), "intersection of filters of 21 and 1 lines"},
		{"union of other k", small.Union(sparse), "with k = 2 and 4: sizes and k must be equal"},
		{"SizeFor of too many keys", errorOf(blocked.SizeFor(1e15, 0.01)),
			"1000000000000000 keys with a rate of 0.01 takes more than 256 GiB"},
		{"SizeFor of no rate", errorOf(blocked.SizeFor(1, 0)), "false-positive rate 0: must be 1e-9 to 0.5"},
	})
}
