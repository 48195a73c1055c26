package filter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/long"
)

// randomKey returns a key of 0 to 20 bytes, all < 0x80 or any.
func randomKey(rnd *rand.Rand, ascii bool) []byte {
	key := make([]byte, rnd.IntN(21))
	for i := range key {
		key[i] = byte(rnd.Uint32())
		if ascii {
			key[i] &= 0x7f
		}
	}
	return key
}

// filterBlockOf returns a filter block with one filter of keys, whose hash takes the last bytes of a key as signed
// or not.
func filterBlockOf(keys [][]byte, sign uint32) []byte {
	const bitsPerKey = 10
	array := make([]byte, bloom.Bits(uint64(len(keys)), bitsPerKey)/8)
	var hashes []uint32
	for _, key := range keys {
		hashes = append(hashes, bloom.Hash(key, sign))
	}
	bloom.SetAll(array, hashes, bloom.K(bitsPerKey))
	block := append(array, byte(bloom.K(bitsPerKey)))
	n := len(block)
	return append(block, 0, 0, 0, 0, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), 30)
}

// EitherHash misses no key, whichever hash the filter was built with. For a key without a last byte ≥ 0x80, the
// result is the same as without EitherHash. Contains, Probe and the Policy agree.
func TestEitherHashMissesNoKey(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed := range uint64(long.Size(50, 200)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var keys [][]byte
		for range 1 + rnd.IntN(100) {
			keys = append(keys, randomKey(rnd, false))
		}
		for name, sign := range map[string]uint32{"unsigned": bloom.UnsignedTail, "signed": bloom.SignedTail} {
			block := filterBlockOf(keys, sign)
			for _, p := range []filter.Policy{filter.NewBloom(0), filter.Rename(filter.NewBloom(0), "another")} {
				either := newReader(t, block, filter.EitherHash(p))
				for _, key := range keys {
					if !either.Contains(0, key) || !filter.EitherHash(p).Contains(either.Filter(0), key) {
						t.Fatalf("seed %d: %s, filter of the %s hash rules out %x", seed, p.Name(), name, key)
					}
				}
				one := newReader(t, block, p)
				for range 1000 {
					key := randomKey(rnd, true)
					if got, want := either.Contains(0, key), one.Contains(0, key); got != want {
						t.Fatalf("seed %d: %x: %t with EitherHash, %t without", seed, key, got, want)
					}
					checkProbe(t, either, p, key)
					checkProbe(t, either, p, randomKey(rnd, false))
				}
			}
		}
	}
}

// checkProbe checks that Probe of a filter and Contains agree, if the policy is Bloom.
func checkProbe(t *testing.T, b *filter.BlockReader, policy filter.Policy, key []byte) {
	t.Helper()
	p, err := b.Probe(0, key)
	if _, bloom := policy.(filter.Bloom); err != nil && !bloom {
		return
	}
	if err != nil || (p.Clear < 0) != b.Contains(0, key) {
		t.Fatalf("%x: Probe = %+v, %v, and Contains = %t", key, p, err, b.Contains(0, key))
	}
}

// EitherHash keeps the policy's name, aliases and Check.
func TestEitherHashIsThePolicy(t *testing.T) {
	t.Parallel()
	p := filter.EitherHash(filter.NewBloom(10))
	aliases := p.(interface{ Aliases() []string }).Aliases()
	if names := fmt.Sprint(p.Name(), aliases); names != "leveldb.BuiltinBloomFilter[leveldb.BuiltinBloomFilter2]" {
		t.Errorf("names are %s", names)
	}
	if err := p.(interface{ Check(filter []byte) error }).Check(make([]byte, 8)); err == nil {
		t.Error("Check of 8 bytes = nil")
	}
	p = filter.EitherHash(filter.Rename(filter.NewBloom(10), "another"))
	if got := p.(interface{ Aliases() []string }).Aliases(); got != nil {
		t.Errorf("aliases are %s, want none", got)
	}
}
