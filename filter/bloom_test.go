package filter_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
)

// draw draws a filter's bits as dots and crosses, in groups of eight, followed by k.
func draw(f []byte) string {
	var s strings.Builder
	for i, c := range f[:len(f)-1] {
		for bit := range 8 {
			s.WriteByte(".x"[c>>bit&1])
		}
		s.WriteByte(" \n"[(i+1)/8-i/8])
	}
	fmt.Fprintf(&s, "k=%d\n", f[len(f)-1])
	return s.String()
}

// Bloom sets the bits that other engines check.
func TestBloomSetsTheBitsThatEnginesFind(t *testing.T) {
	t.Parallel()
	var s strings.Builder
	for _, tt := range []struct {
		bits int
		keys []string
	}{
		{10, nil},
		{10, []string{"hello", "world"}},
		{10, []string{""}},
		{10, []string{"\x00", "\x00\x00", "\x80", "\xff\xff\xff"}},
		{30, []string{"a", "ab", "abc", "abcd", "abcde"}},
	} {
		fmt.Fprintf(&s, "%d bits per key, keys %q:\n%s\n", tt.bits, tt.keys, draw(filtertest.Build(filter.NewBloom(tt.bits), tt.keys...)))
	}
	golden.Text(t, "bloom.golden", s.String())
}

// The k and the size of filters are as documented, and as the policy's methods return.
func TestBloomHasTheProbesAndTheSizeItSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why                    string
		n, bitsPerKey, k, size int
	}{
		{"below 0 is 0", 0, math.MinInt, 1, 9},
		{"below 0 is 0", 0, -1, 1, 9},
		{"at least 1", 100, 0, 1, 9},
		{"at least 1", 100, 1, 1, 14},
		{"1.38", 0, 2, 1, 9},
		{"2.07", 0, 3, 2, 9},
		{"6.9", 0, 10, 6, 9},
		{"6.9", 1, 10, 6, 9},
		{"60 bits: 64 at least", 6, 10, 6, 9},
		{"70 bits: 72 in whole bytes", 7, 10, 6, 10},
		{"13.8", 0, 20, 13, 9},
		{"29.67", 0, 43, 29, 9},
		{"30.36", 0, 44, 30, 9},
		{"at most 30", 0, 100, 30, 9},
		{"256.68: its low byte is 0", 0, 372, 30, 9},
		{"257.37: its low byte is 1", 0, 373, 30, 9},
		{"at most 30", 1, 1000, 30, 126},
	} {
		p := filter.NewBloom(tt.bitsPerKey)
		f := filtertest.Build(p, make([]string, tt.n)...)
		want := fmt.Sprint(tt.k, tt.size)
		if got := fmt.Sprint(f[len(f)-1], len(f)); got != want || fmt.Sprint(p.K(), p.Size(uint64(tt.n))) != want {
			t.Errorf("%d keys, %d bits for each: k and bytes are %s, and %d, %d by the policy, want %s (%s)",
				tt.n, tt.bitsPerKey, got, p.K(), p.Size(uint64(tt.n)), want, tt.why)
		}
	}
}

// Where goleveldb's 32-bit product wraps around, a filter has the maximum size for 32-bit positions, and no false
// negatives.
func TestBloomSizeDoesNotWrap(t *testing.T) {
	long.Test(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 512 MiB of memory")
	}
	p := filter.NewBloom(1<<31 - 1) // three keys: above 2³² bits
	f := filtertest.Build(p, "a", "b", "b")
	if want := (1<<32-8)/8 + 1; len(f) != want {
		t.Fatalf("filter of %d bytes, want %d", len(f), want)
	}
	for _, k := range []string{"a", "b"} {
		if !p.Contains(f, []byte(k)) {
			t.Errorf("false negative: %q", k)
		}
	}
	if p.Contains(f, []byte("c")) {
		t.Error("a filter of two keys and 4 billion bits contains a third key")
	}
}

// Check rejects filters that no engine writes. Contains treats them as LevelDB does.
func TestBloomOfOddFilters(t *testing.T) {
	t.Parallel()
	full := bytes.Repeat([]byte{0xff}, 8)
	none := make([]byte, 8)
	for _, tt := range []struct {
		name            string
		filter          []byte
		contains, sound bool
	}{
		{"no bytes", nil, false, false},
		{"only k", []byte{6}, false, false},
		{"one byte of bits, set", []byte{0xff, 6}, true, false},
		{"7 bytes of bits", append(full[:7:7], 6), true, false},
		{"all bits set", append(full, 6), true, true},
		{"no bit set", append(none, 6), false, true},
		{"k is 0: no bit is checked", append(none, 0), true, false},
		{"k is 30, the largest", append(none, 30), false, true},
		{"k is 31, reserved", append(none, 31), true, true},
		{"k is 255, reserved", append(none, 255), true, true},
	} {
		p := filter.NewBloom(10)
		got, err := p.Contains(tt.filter, []byte("key")), p.Check(tt.filter)
		if got != tt.contains || (err == nil) != tt.sound {
			t.Errorf("%s: Contains = %v, want %v; Check = %v, want sound = %v", tt.name, got, tt.contains, err, tt.sound)
		}
	}
}

// A Generator starts over after Generate, clears the memory from Alloc, and does not keep the keys.
func TestGeneratorReuseInDirtyMemory(t *testing.T) {
	t.Parallel()
	p := filter.NewBloom(10)
	g := p.NewGenerator()
	dirty := filter.Bytes(bytes.Repeat([]byte{0xff}, 100))[:0]
	for _, key := range []string{"one", "two", "three"} {
		dirty = dirty[:0]
		buf := []byte(key)
		g.Add(buf)
		clear(buf)
		g.Generate(&dirty)
		if diff := cmp.Diff(filtertest.Build(p, key), []byte(dirty)); diff != "" {
			t.Errorf("filter of %s (-fresh +reused):\n%s", key, diff)
		}
	}
}
