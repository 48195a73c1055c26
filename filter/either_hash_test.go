package filter

import (
	"math/rand/v2"
	"testing"

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

// filterBlockOf returns a filter block of one filter of keys, whose hash takes the bytes at
// the end of a key as sign says.
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

// With EitherHash no key is missed, whichever hash the filter is of. A key without a byte ≥ 0x80
// at its end has the same answer as without EitherHash. Contains, Probe and the Policy agree.
func TestEitherHashMissesNoKey(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var keys [][]byte
		for range 1 + rnd.IntN(100) {
			keys = append(keys, randomKey(rnd, false))
		}
		for name, sign := range map[string]uint32{"unsigned": bloom.UnsignedTail, "signed": bloom.SignedTail} {
			block := filterBlockOf(keys, sign)
			for _, p := range []Policy{NewBloom(0), Rename(NewBloom(0), "another")} {
				either, err := NewBlockReader(block, EitherHash(p))
				if err != nil {
					t.Fatal(err)
				}
				for _, key := range keys {
					if !either.Contains(0, key) || !EitherHash(p).Contains(either.Filter(0), key) {
						t.Fatalf("seed %d: %s, filter of the %s hash rules out %x", seed, p.Name(), name, key)
					}
				}
				one, _ := NewBlockReader(block, p)
				for range 1000 {
					key := randomKey(rnd, true)
					if got, want := either.Contains(0, key), one.Contains(0, key); got != want {
						t.Fatalf("seed %d: %x: %t with EitherHash, %t without", seed, key, got, want)
					}
					checkProbe(t, either, key)
					checkProbe(t, either, randomKey(rnd, false))
				}
			}
		}
	}
}

// checkProbe checks that Probe of a filter and Contains agree.
func checkProbe(t *testing.T, b *BlockReader, key []byte) {
	t.Helper()
	p, err := b.Probe(0, key)
	if err != nil && !b.bloom {
		return
	}
	if err != nil || (p.Clear < 0) != b.Contains(0, key) {
		t.Fatalf("%x: Probe = %+v, %v, and Contains = %t", key, p, err, b.Contains(0, key))
	}
}

// EitherHash hides nothing of the policy.
func TestEitherHashIsThePolicy(t *testing.T) {
	t.Parallel()
	p := EitherHash(NewBloom(10))
	if got := p.(interface{ Aliases() []string }).Aliases(); len(got) != 1 || got[0] != levelDBName || p.Name() != goleveldbName {
		t.Errorf("names are %s and %s", p.Name(), got)
	}
	if err := p.(checker).Check(make([]byte, 8)); err == nil {
		t.Error("Check of 8 bytes = nil")
	}
	if got := EitherHash(Rename(NewBloom(10), "another")).(interface{ Aliases() []string }).Aliases(); got != nil {
		t.Errorf("aliases are %s, want none", got)
	}
}
