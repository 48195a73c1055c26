package fuse_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// narrow returns the filter with fewer bits.
func narrow(t testing.TB, contents []byte, bits int) []byte {
	t.Helper()
	narrowed, err := fuse.Narrow(contents, bits)
	noError(t, err)
	return narrowed
}

// checkNarrow checks, for all pairs of widths, that a narrowed filter is identical to one built from the same keys.
func checkNarrow(t *testing.T, buildOf func(bits int) []byte) {
	t.Helper()
	built := map[int][]byte{}
	for _, bits := range allBits {
		built[bits] = buildOf(bits)
	}
	for i, wide := range allBits {
		before := bytes.Clone(built[wide])
		for _, bits := range allBits[:i+1] {
			got := narrow(t, built[wide], bits)
			if !bytes.Equal(got, built[bits]) {
				t.Errorf("%d to %d bits: %d bytes that end in %x, want the %d of New(%d), which end in %x",
					wide, bits, len(got), tail(got), len(built[bits]), bits, tail(built[bits]))
			}
			if wide == bits && &got[0] == &built[bits][0] {
				t.Errorf("%d bits: Narrow returns its argument, want a copy", bits)
			}
		}
		if !bytes.Equal(built[wide], before) {
			t.Errorf("Narrow has changed a filter of %d bits", wide)
		}
	}
}

func tail(contents []byte) []byte { return contents[max(0, len(contents)-20):] }

// A narrowed filter is identical to the filter that would have been built with fewer bits.
func TestNarrowIsBuiltFromTheSameKeys(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 2, 3, 4, 5, 6, 7, 10, 33, 100, 999, 10_000}
	if !long.Race {
		sizes = append(sizes, 100_003, 300_000)
	}
	rng := rand.New(rand.NewPCG(41, 0))
	for range 60 {
		sizes = append(sizes, 1+rng.IntN(1<<(1+rng.IntN(12))))
	}
	for _, n := range sizes {
		t.Run(fmt.Sprintf("keys=%d", n), func(t *testing.T) {
			checkNarrow(t, func(bits int) []byte { return build(t, newPolicy(t, bits), n) })
		})
	}
}

// The maximum number of keys.
func TestNarrowOfManyKeys(t *testing.T) {
	long.Test(t)
	long.NoRace(t)
	wide := build(t, newPolicy(t, 16), fuse.MaxKeys)
	for _, bits := range []int{4, 8, 12} {
		narrowed := narrow(t, wide, bits)
		if want := build(t, newPolicy(t, bits), fuse.MaxKeys); !bytes.Equal(narrowed, want) {
			t.Fatalf("%d bits: %d bytes, want the %d of New(%d)", bits, len(narrowed), len(want), bits)
		}
		f, keys := open(t, narrowed), newKeys(1)
		for i := range fuse.MaxKeys {
			if !f.Contains(keys.next()) {
				t.Fatalf("%d bits: key %d is denied", bits, i)
			}
		}
	}
}

// Unusual keys: duplicates, of 0 bytes, of 1 MiB, and with few different bits.
func TestNarrowOfUnusualKeys(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte{0xa5}, 1<<20)
	counters := func(n int) (keys [][]byte) {
		for i := range n {
			keys = append(keys, binary.BigEndian.AppendUint64(nil, uint64(i)))
		}
		return keys
	}
	for name, keys := range map[string][][]byte{
		"the empty key":       {{}},
		"the empty key twice": {nil, {}},
		"1 MiB":               {large},
		"both":                {{}, large, large[1:], {0}},
		"numbers":             counters(5000),
		"numbers twice":       append(counters(5000), counters(3000)...),
		"one key many times":  append(counters(3), bytes.Split(bytes.Repeat([]byte("k,"), 999), []byte(","))...),
	} {
		t.Run(name, func(t *testing.T) {
			checkNarrow(t, func(bits int) []byte {
				contents := filtertest.BuildTable(t, newPolicy(t, bits), keys...)
				filtertest.CheckContains(t, open(t, contents).Contains, keys)
				return contents
			})
		})
	}
}

func TestNarrowErrors(t *testing.T) {
	t.Parallel()
	whole := build(t, newPolicy(t, 12), 100)
	for _, tt := range []struct {
		name     string
		contents []byte
		bits     int
		want     string // in the error
	}{
		{"wider", whole, 14, "a filter with fingerprints of 12 bits has none of 14"},
		{"much wider", whole, 16, "a filter with fingerprints of 12 bits has none of 16"},
		{"0 bits", whole, 0, "fingerprints of 0 bits: must be 4, 8,"},
		{"-8 bits", whole, -8, "fingerprints of -8 bits: must be 4, 8,"},
		{"9 bits", whole, 9, "fingerprints of 9 bits: must be 4, 8,"},
		{"2^62 bits", whole, math.MaxInt, "bits: must be 4, 8,"},
		{"no filter", nil, 8, "filter of 0 bytes"},
		{"a trailer alone", tail(whole)[6:], 8, "filter with 0 bytes of fingerprints"},
		{"cut short", whole[1:], 8, "bytes of fingerprints: should be"},
	} {
		narrowed, err := fuse.Narrow(tt.contents, tt.bits)
		if narrowed != nil || err == nil || !strings.HasPrefix(err.Error(), "fuse: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Narrow returns %d bytes, %v, want an error with %q", tt.name, len(narrowed), err, tt.want)
		}
	}
	for _, bits := range []int{math.MinInt, 0, 3, 9, 17} {
		if p, err := (fuse.Policy{}).AtMost(bits); p != nil || err == nil {
			t.Errorf("AtMost(%d) returns %v, %v", bits, p, err)
		}
	}
}

// A policy from AtMost writes the same filters as its original, and the lowest limit applies.
func TestAtMostWritesAsBefore(t *testing.T) {
	t.Parallel()
	for _, bits := range allBits {
		p := newPolicy(t, bits)
		limited := atMost(t, atMost(t, atMost(t, p, 8), 4), 10)
		if limited.Name() != p.Name() || !bytes.Equal(build(t, limited, 100), build(t, p, 100)) {
			t.Errorf("%d bits: a limited policy writes other filters, or as %s", bits, limited.Name())
		}
		contents := build(t, p, 100)
		got, err := limited.Narrow(contents)
		if want := narrow(t, contents, 4); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bits: Narrow returns %d bytes, %v, want %d, those of the lowest limit", bits, len(got), err, len(want))
		}
		if got, err := p.Narrow(contents); err != nil || &got[0] != &contents[0] {
			t.Errorf("%d bits: Narrow of a policy without a limit returns %d bytes, %v", bits, len(got), err)
		}
	}
	if _, err := atMost(t, fuse.Policy{}, 4).Narrow([]byte("no filter")); err == nil {
		t.Error("Narrow of a corrupt filter returns no error")
	}
}

// atMost returns a policy with a limit.
func atMost(t testing.TB, p fuse.Policy, bits int) fuse.Policy {
	t.Helper()
	limited, err := p.AtMost(bits)
	noError(t, err)
	return limited.(fuse.Policy)
}

// Arbitrary bytes are narrowed or refused. A narrowed filter opens, has the requested bits, and rules out no key
// that passed before.
func FuzzNarrow(f *testing.F) {
	for _, bits := range allBits {
		f.Add(build(f, newPolicy(f, bits), 100), 4, []byte("key"))
		f.Add(build(f, newPolicy(f, bits), 1), 10, []byte(""))
	}
	f.Add(append(make([]byte, 3), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 8), 4, []byte("segments of one fingerprint"))
	f.Add(append(bytes.Repeat([]byte{0xff}, 8), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 12), 12, []byte("spare bits that are set"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x12\x10"), 8, []byte("2^50 fingerprints"))
	f.Fuzz(func(t *testing.T, contents []byte, bits int, key []byte) {
		before := bytes.Clone(contents)
		narrowed, err := fuse.Narrow(contents, bits)
		if !bytes.Equal(contents, before) {
			t.Fatal("Narrow has changed its argument")
		}
		if err != nil {
			return
		}
		was, err := fuse.Inspect(contents)
		if err != nil || len(narrowed) > len(contents) || len(narrowed) != cap(narrowed) {
			t.Fatalf("%d bytes narrow to %d of %d; Inspect returns %v", len(contents), len(narrowed), cap(narrowed), err)
		}
		want := was
		want.Bits = bits
		if is, err := fuse.Inspect(narrowed); err != nil || is != want {
			t.Fatalf("Inspect returns %+v, %v, want %+v", is, err, want)
		}
		if open(t, contents).Contains(key) && !open(t, narrowed).Contains(key) {
			t.Fatal("the narrowed filter rules out a key that the wide one has")
		}
	})
}

// BenchmarkNarrow narrows a filter of 10^6 keys.
func BenchmarkNarrow(b *testing.B) {
	const n = 1_000_000
	wide := build(b, newPolicy(b, 16), n)
	for _, bits := range []int{4, 8, 12} {
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				narrow(b, wide, bits)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
		})
	}
}
