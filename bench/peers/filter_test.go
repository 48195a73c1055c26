package main

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// randomKeys returns up to n keys of up to 39 bytes.
func randomKeys(rng *rand.Rand, n int) [][]byte { return filtertest.Keys(rng, rng.IntN(n+1)) }

// Our filters equal goleveldb's byte for byte, also in a buffer of goleveldb's that contained other bytes. Lookups
// by both packages agree.
func TestFiltersAreGoleveldbs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	step := 10
	if long.Enabled() {
		step = 1
	}
	for bits := 0; bits < 372; bits += step { // from here on goleveldb's k wraps
		theirs, our := lfilter.NewBloomFilter(bits), filter.NewBloom(bits)
		theirGen, ourGen := theirs.NewGenerator(), our.NewGenerator()
		for range 5 {
			keys := randomKeys(rng, 200)
			for _, k := range keys {
				theirGen.Add(k)
				ourGen.Add(k)
			}
			want := new(util.Buffer) // fresh: theirs needs clean memory
			theirGen.Generate(want)
			dirty := util.NewBuffer(bytes.Repeat([]byte{0xff}, 20_000))
			dirty.Reset()
			ourGen.Generate(dirty)
			if diff := cmp.Diff(want.Bytes(), dirty.Bytes()); diff != "" {
				t.Fatalf("%d bits per key, %d keys (-goleveldb +ours):\n%s", bits, len(keys), diff)
			}
			for _, k := range append(randomKeys(rng, 50), keys...) {
				if their, our := theirs.Contains(want.Bytes(), k), our.Contains(want.Bytes(), k); their != our {
					t.Fatalf("%d bits per key: Contains(%x) = %v, goleveldb's is %v", bits, k, our, their)
				}
			}
		}
	}
}

// Lookups by both packages agree in malformed filters, too.
func TestOddFiltersMeanTheSame(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	theirs, our := lfilter.NewBloomFilter(10), filter.NewBloom(10)
	for range 100_000 {
		f := make([]byte, rng.IntN(12))
		for i := range f {
			a, b := byte(rng.Uint32()), byte(rng.Uint32())
			f[i] = a | b // three in four bits are set
		}
		key := []byte{byte(rng.Uint32()), byte(rng.Uint32())}
		if their, our := theirs.Contains(f, key), our.Contains(f, key); their != our {
			t.Fatalf("Contains(%x, %x) = %v, goleveldb's is %v", f, key, our, their)
		}
	}
}

// By filter.From, goleveldb's filter builds and reads the filters of our tables, even in a buffer that contained
// other bytes.
func TestFromGoleveldbsFilter(t *testing.T) {
	t.Parallel()
	theirs := filter.From(lfilter.NewBloomFilter(10))
	rng := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		keys := randomKeys(rng, 300)
		want, got := bytesOf(filter.NewBloom(10), keys), bytesOf(theirs, keys)
		if !bytes.Equal(want, got) {
			t.Fatalf("%d keys: filter is %x, want %x", len(keys), got, want)
		}
		for _, key := range append(randomKeys(rng, 50), keys...) {
			if got, want := theirs.Contains(got, key), filter.NewBloom(0).Contains(want, key); got != want {
				t.Fatalf("Contains(%x) = %v, want %v", key, got, want)
			}
		}
	}
	if got, want := theirs.Name(), "leveldb.BuiltinBloomFilter"; got != want {
		t.Errorf("Name = %q, want %q", got, want)
	}
}

// bytesOf builds a filter in a buffer whose memory was used before.
func bytesOf(p filter.Policy, keys [][]byte) []byte {
	b := filter.Bytes(bytes.Repeat([]byte{0xff}, 10_000))[:0]
	g := p.NewGenerator()
	for _, key := range keys {
		g.Add(key)
	}
	g.Generate(&b)
	return b
}
