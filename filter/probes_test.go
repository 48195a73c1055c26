package filter_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// Probe finds a clear bit if and only if Contains returns false, for filters of any size and k.
func TestProbeAgreesWithContains(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	answers := map[bool]int{}
	for range 20_000 {
		f := make([]byte, 9+rng.IntN(300))
		for i := range f {
			f[i] = byte(rng.Uint32() | rng.Uint32() | rng.Uint32()) // dense, so that some keys are contained
		}
		f[len(f)-1] = byte(1 + rng.IntN(31))
		key := make([]byte, rng.IntN(20))
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		p, err := filter.Probe(f, key)
		noError(t, err)
		contains := filter.Bloom{}.Contains(f, key)
		if answers[contains]++; contains != (p.Clear < 0) {
			t.Fatalf("key %x in filter %x: Contains = %v, Probe = %+v", key, f, contains, p)
		}
	}
	if answers[true] < 100 || answers[false] < 100 {
		t.Errorf("answers of Contains: %v, want hundreds of both", answers)
	}
}

// A BlockReader's Probe agrees with the function Probe for each of its filters, with EitherHash too: a present key
// is found by Bloom's hash.
func TestProbeOfABlockIsThatOfItsFilters(t *testing.T) {
	t.Parallel()
	bloom := filter.NewBloom(10)
	contents := buildBlock(t, bloom, 11, []dataBlock{{0, "a b"}, {2048, "c"}})
	for name, p := range map[string]filter.Policy{
		"Bloom": bloom, "EitherHash": filter.EitherHash(bloom), "EitherHash twice": filter.EitherHash(filter.EitherHash(bloom)),
	} {
		t.Run(name, func(t *testing.T) {
			b := newReader(t, contents, p)
			for i := range b.Len() {
				for _, key := range []string{"a", "b", "c", "absent"} {
					want, err := filter.Probe(b.Filter(i), []byte(key))
					noError(t, err)
					got, err := b.Probe(i, []byte(key))
					if diff := cmp.Diff(want, got); diff != "" || err != nil {
						t.Errorf("filter %d, key %q: %v (-Probe +BlockReader.Probe):\n%s", i, key, err, diff)
					}
				}
			}
		})
	}
	b := newReader(t, contents, filter.Rename(bloom, "another"))
	if _, err := b.Probe(0, []byte("a")); err == nil || !strings.Contains(err.Error(), `"another"`) {
		t.Errorf("Probe of filters of another policy: %v, want an error that names it", err)
	}
}

// The bits of all keys, and no others, are set in a filter. The last 3 bytes of some keys are
// ≥ 0x80, where the hashes of Bloom and TableBloom differ.
func TestProbesAreTheBitsOfAFilter(t *testing.T) {
	t.Parallel()
	keys := []string{"", "a", "Bern", "Oslo\xff", "Lima\x80\x90", "Rome\xfe\xfd\xfc"}
	small := filtertest.Build(filter.NewBloom(10), keys...)
	big := filtertest.BuildTable(t, filter.NewTableBloom(300), keys...)
	opened := openTable(t, big)
	gotSmall, gotBig := make([]byte, len(small)), make([]byte, len(big))
	gotSmall[len(small)-1] = small[len(small)-1]
	copy(gotBig[len(big)-5:], big[len(big)-5:])
	for _, key := range keys {
		p, err := filter.Probe(small, []byte(key))
		noError(t, err)
		for _, bit := range p.Bits {
			gotSmall[bit/8] |= 1 << (bit % 8)
		}
		p, ok := filter.ProbeTable(opened, []byte(key))
		if !ok {
			t.Fatal("ProbeTable does not know TableBloom's filter")
		}
		for _, bit := range p.Bits {
			gotBig[64*p.Line+bit/8] |= 1 << (bit % 8)
		}
	}
	if diff := cmp.Diff(small, gotSmall); diff != "" {
		t.Errorf("Bloom (-filter +probes):\n%s", diff)
	}
	if diff := cmp.Diff(big, gotBig); diff != "" {
		t.Errorf("TableBloom (-filter +probes):\n%s", diff)
	}
}

func TestProbeOfOtherFilters(t *testing.T) {
	t.Parallel()
	reserved := append(make([]byte, 8), 31)
	if p, err := filter.Probe(reserved, []byte("a")); err != nil || p.Clear != -1 || p.Bits != nil {
		t.Errorf("Probe with k = 31 = %+v, %v, want no bits and no clear one", p, err)
	}
	if p, ok := filter.ProbeTable(otherTableFilter{}, []byte("a")); ok {
		t.Errorf("ProbeTable of another policy's filter = %+v, want ok = false", p)
	}
}

// otherTableFilter stands for the filter of another policy.
type otherTableFilter struct{}

func (otherTableFilter) Contains([]byte) bool { return true }
