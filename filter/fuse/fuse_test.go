package fuse_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

var noError = errtest.NoError

var allBits = []int{4, 8, 10, 12, 14, 16}

// newPolicy returns a Policy of a valid number of bits.
func newPolicy(t testing.TB, bits int) fuse.Policy {
	t.Helper()
	p, err := fuse.New(bits)
	noError(t, err)
	return p
}

// A keySet generates different keys of 16 bytes. Keys of two seeds differ.
type keySet struct {
	rng  *rand.Rand
	seed uint32
	n    uint32
	key  [16]byte
}

func newKeys(seed uint32) *keySet {
	return &keySet{rng: rand.New(rand.NewPCG(uint64(seed), 0)), seed: seed}
}

// next returns another key. It is valid until the next call.
func (s *keySet) next() []byte {
	binary.LittleEndian.PutUint64(s.key[:], s.rng.Uint64())
	binary.LittleEndian.PutUint32(s.key[8:], s.seed)
	binary.LittleEndian.PutUint32(s.key[12:], s.n)
	s.n++
	return s.key[:]
}

// build returns the filter of n keys.
func build(t testing.TB, p filter.TablePolicy, n int) []byte {
	t.Helper()
	g, keys := p.NewTableGenerator(), newKeys(1)
	for range n {
		g.Add(keys.next())
	}
	contents, err := g.Generate()
	noError(t, err)
	return contents
}

// open returns the filter ready for lookups.
func open(t testing.TB, contents []byte) filter.TableFilter {
	t.Helper()
	f, err := fuse.Policy{}.Open(contents)
	noError(t, err)
	return f
}

func TestEveryKeyIsContained(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, bits := range allBits {
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 10, 33, 100, 999, 10_000, 100_003} {
			filtertest.CheckContains(t, open(t, build(t, newPolicy(t, bits), n)).Contains, sixteenBytes(1, n))
		}
	}
}

// Absent keys pass with probability 2^−bits, for few keys as for many.
func TestRateIsMeasured(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const lookups = 400_000
	for _, bits := range allBits {
		p := newPolicy(t, bits)
		for _, n := range []int{100, 50_000} {
			f, absent, passed := open(t, build(t, p, n)), newKeys(2), 0.0
			for range lookups {
				if f.Contains(absent.next()) {
					passed++
				}
			}
			if want := p.Rate() * lookups; math.Abs(passed-want) > 5*math.Sqrt(want) {
				t.Errorf("%d bits, %d keys: %v of %d absent keys pass, want about %.0f", bits, n, passed, lookups, want)
			}
		}
	}
}

func TestSizeIsThatOfTheFilter(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, bits := range allBits {
		p := newPolicy(t, bits)
		for n := 1; n < 300_000; n += n/7 + 1 {
			if got, want := p.Size(n), len(build(t, p, n)); got != want {
				t.Errorf("%d bits, %d keys: Size returns %d, the filter has %d bytes", bits, n, got, want)
			}
		}
		for _, n := range []int{math.MinInt, -1, 0, fuse.MaxKeys + 1, math.MaxInt} {
			if got := p.Size(n); got != 0 {
				t.Errorf("%d bits, %d keys: Size returns %d, want 0", bits, n, got)
			}
		}
	}
}

// Tables add a key once for each of its versions, and other programs may add keys in any order.
func TestKeysAreAddedAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ n, again, times int }{
		{1000, 1000, 2}, {1000, 1000, 3}, {1000, 1000, 5}, {1000, 1000, 70}, {3, 3, 10_000},
		{10_000, 100, 100}, {10_000, 1, 600}, {50_000, 100, 300},
	} {
		g := fuse.Policy{}.NewTableGenerator()
		for i := range tt.times {
			keys, n := newKeys(1), tt.n
			if i > 0 {
				n = tt.again
			}
			for range n {
				key := keys.next()
				g.Add(key)
				g.Add(key)
			}
		}
		contents, err := g.Generate()
		noError(t, err)
		if want := build(t, fuse.Policy{}, tt.n); !bytes.Equal(contents, want) {
			t.Errorf("%+v: a filter of %d bytes, want that of the different keys, which has %d", tt, len(contents), len(want))
		}
	}
}

func TestTooManyKeysAreRefused(t *testing.T) {
	long.NoRace(t)
	if testing.Short() {
		t.Skip("takes 200 MB of memory")
	}
	t.Parallel()
	g, keys := fuse.Policy{}.NewTableGenerator(), newKeys(1)
	for range fuse.MaxKeys + 1 {
		g.Add(keys.next())
	}
	if _, err := g.Generate(); !errors.Is(err, fuse.ErrTooManyKeys) || !strings.Contains(err.Error(), "more than 10000000 keys") {
		t.Errorf("Generate returns %v", err)
	}
}

func TestNewRefusesImpossibleBits(t *testing.T) {
	t.Parallel()
	for _, bits := range []int{math.MinInt, -1, 0, 1, 5, 9, 11, 13, 20, 32, 64, math.MaxInt} {
		if _, err := fuse.New(bits); err == nil {
			t.Errorf("New(%d) returns no error", bits)
		}
	}
}

// Faults in the trailer of a filter of 100 keys.
func TestOpenRefusesImpossibleForms(t *testing.T) {
	t.Parallel()
	whole := build(t, fuse.Policy{}, 100)
	for _, tt := range []struct {
		name   string
		change func(contents []byte) []byte
		want   string // in the error
	}{
		{"no bytes", func(b []byte) []byte { return nil }, "filter of 0 bytes is too short (minimum 14)"},
		{"13 bytes", func(b []byte) []byte { return b[len(b)-13:] }, "filter of 13 bytes is too short (minimum 14)"},
		{"a trailer alone", func(b []byte) []byte { return b[len(b)-14:] }, "filter with 0 bytes of fingerprints: should be"},
		{"a byte less", func(b []byte) []byte { return b[1:] }, "bytes of fingerprints: should be"},
		{"a byte more", func(b []byte) []byte { return append([]byte{0}, b...) }, "bytes of fingerprints: should be"},
		{"fingerprints of 0 bits", func(b []byte) []byte { b[len(b)-1] = 0; return b }, "filter with fingerprints of 0 bits"},
		{"fingerprints of 11 bits", func(b []byte) []byte { b[len(b)-1] = 11; return b }, "filter with fingerprints of 11 bits"},
		{"other fingerprints", func(b []byte) []byte { b[len(b)-1] = 16; return b }, "bytes of fingerprints: should be"},
		{"longer segments", func(b []byte) []byte { b[len(b)-2]++; return b }, "bytes of fingerprints: should be"},
		{"segments of 2^19", func(b []byte) []byte { b[len(b)-2] = 19; return b }, "filter with segments of 2^19"},
		{"segments of 2^255", func(b []byte) []byte { b[len(b)-2] = 255; return b }, "filter with segments of 2^255"},
		{"no segments", func(b []byte) []byte { clear(b[len(b)-6 : len(b)-2]); return b }, "filter of 2 segments (minimum 3)"},
		{"too many segments", func(b []byte) []byte { b[len(b)-3] = 255; return b }, "bytes of fingerprints: should be"},
	} {
		f, err := fuse.Policy{}.Open(tt.change(append([]byte(nil), whole...)))
		if err == nil || f != nil {
			t.Errorf("%s: Open returns %v and no error", tt.name, f)
		} else if !strings.HasPrefix(err.Error(), "fuse: filter ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Open returns %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

func TestInspectTellsTheForm(t *testing.T) {
	t.Parallel()
	i, err := fuse.Inspect(build(t, newPolicy(t, 10), 1000))
	noError(t, err)
	if i.Bits != 10 || i.Fingerprints != i.Segments*i.SegmentLen || bits.OnesCount64(i.SegmentLen) != 1 ||
		i.Fingerprints < 1125 || i.Fingerprints > 1600 {
		t.Errorf("Inspect returns %+v", i)
	}
}

// A segment has up to 2^18 fingerprints, since 18 bits of the hash choose the place in it.
func TestInspectRefusesLongSegments(t *testing.T) {
	t.Parallel()
	for lg, ok := range map[byte]bool{17: true, 18: true, 19: false, 255: false} {
		contents := make([]byte, 3<<(min(lg, 19)-1), 3<<18+14) // three segments of 4 bits
		trailer := []byte{8: 1, 12: lg, 13: 4}
		if _, err := fuse.Inspect(append(contents, trailer...)); (err == nil) != ok {
			t.Errorf("segments of 2^%d fingerprints: %v, want accepted: %v", lg, err, ok)
		}
	}
}

// Probe returns equal fingerprints if and only if the filter may contain the key.
func TestProbeTellsWhatContainsDecides(t *testing.T) {
	t.Parallel()
	for _, bits := range allBits {
		f, keys := open(t, build(t, newPolicy(t, bits), 1000)), newKeys(1)
		for range 2000 {
			key := keys.next()
			p, ok := fuse.Probe(f, key)
			if !ok || (p.Have == p.Want) != f.Contains(key) || int(p.Want) >= 1<<bits || int(p.Have) >= 1<<bits {
				t.Fatalf("%d bits: Probe(%x) = %+v, %v, Contains = %v", bits, key, p, ok, f.Contains(key))
			}
		}
	}
	if _, ok := fuse.Probe(nil, []byte("key")); ok {
		t.Error("Probe of no filter is ok")
	}
}

// Arbitrary bytes are refused, or open as a filter whose lookups do not panic.
func FuzzOpen(f *testing.F) {
	for _, bits := range allBits {
		f.Add(build(f, newPolicy(f, bits), 100), []byte("key"))
	}
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04"), []byte(""))
	f.Fuzz(func(t *testing.T, contents, key []byte) {
		opened, err := fuse.Policy{}.Open(contents)
		if _, inspected := fuse.Inspect(contents); (err == nil) != (inspected == nil) {
			t.Fatalf("Open returns %v, Inspect %v", err, inspected)
		}
		if err != nil {
			return
		}
		var many [2]bool
		opened.(filtertest.ManyFilter).ContainsMany([][]byte{key, append([]byte(nil), key...)}, many[:])
		if want := opened.Contains(key); many[0] != want || many[1] != want {
			t.Errorf("ContainsMany answers %v, Contains %v", many, want)
		}
	})
}
