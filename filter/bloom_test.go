package filter_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
)

// build returns one filter of the given keys.
func build(p filter.Policy, keys ...string) []byte {
	g := p.NewGenerator()
	for _, k := range keys {
		g.Add([]byte(k))
	}
	var b filter.Bytes
	g.Generate(&b)
	return b
}

// draw shows a filter's bits as dots and crosses, eight to a group, then k.
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

// The bits themselves, which every engine must find where we put them.
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
		fmt.Fprintf(&s, "%d bits per key, keys %q:\n%s\n", tt.bits, tt.keys, draw(build(filter.NewBloom(tt.bits), tt.keys...)))
	}
	golden.Text(t, "bloom.golden", s.String())
}

func TestBloomProbesAreOneToThirty(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bitsPerKey int
		k          byte
		why        string
	}{
		{math.MinInt, 1, "below 0 is 0"},
		{-1, 1, "below 0 is 0"},
		{0, 1, "at least 1"},
		{1, 1, "at least 1"},
		{2, 1, "1.38"},
		{3, 2, "2.07"},
		{10, 6, "6.9"},
		{20, 13, "13.8"},
		{43, 29, "29.67"},
		{44, 30, "30.36"},
		{100, 30, "at most 30"},
		{372, 30, "256.68: its low byte is 0"},
		{373, 30, "257.37: its low byte is 1"},
	} {
		t.Run(fmt.Sprintf("bits=%d", tt.bitsPerKey), func(t *testing.T) {
			f := build(filter.NewBloom(tt.bitsPerKey))
			if got := f[len(f)-1]; got != tt.k {
				t.Errorf("k = %d, want %d (%s)", got, tt.k, tt.why)
			}
		})
	}
}

func TestBloomSizeIsOfWholeBytes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, bitsPerKey int
		want          int
	}{
		{0, 10, 9},
		{1, 10, 9},
		{6, 10, 9},  // 60 bits: 64 at least
		{7, 10, 10}, // 70 bits: 72 in whole bytes
		{100, 0, 9},
		{100, 1, 14},
		{1, 1000, 126},
	} {
		t.Run(fmt.Sprintf("keys=%d/bits=%d", tt.n, tt.bitsPerKey), func(t *testing.T) {
			keys := make([]string, tt.n)
			if got := len(build(filter.NewBloom(tt.bitsPerKey), keys...)); got != tt.want {
				t.Errorf("%d bytes, want %d", got, tt.want)
			}
		})
	}
}

// Where goleveldb's 32-bit product wraps, a filter takes all the bits that
// 32-bit positions can reach, and has no false negatives.
func TestBloomSizeDoesNotWrap(t *testing.T) {
	long.Test(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 512 MiB of memory")
	}
	p := filter.NewBloom(1<<31 - 1) // three keys: above 2³² bits
	f := build(p, "a", "b", "b")
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

func TestBloomContainsOddFilters(t *testing.T) {
	t.Parallel()
	full := bytes.Repeat([]byte{0xff}, 8)
	none := make([]byte, 8)
	for _, tt := range []struct {
		name   string
		filter []byte
		want   bool
	}{
		{"no bytes", nil, false},
		{"only k", []byte{6}, false},
		{"one byte of bits, set", []byte{0xff, 6}, true},
		{"all bits set", append(full, 6), true},
		{"no bit set", append(none, 6), false},
		{"k is 0: no bit is checked", append(none, 0), true},
		{"k is 30, the largest", append(none, 30), false},
		{"k is 31, reserved", append(none, 31), true},
		{"k is 255, reserved", append(none, 255), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := filter.NewBloom(10).Contains(tt.filter, []byte("key")); got != tt.want {
				t.Errorf("Contains = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestBloomCheckRefusesWhatNoEngineWrites(t *testing.T) {
	t.Parallel()
	none := make([]byte, 8)
	for _, tt := range []struct {
		name   string
		filter []byte
		ok     bool
	}{
		{"8 bytes", none, false},
		{"9 bytes, k is 6", append(none, 6), true},
		{"9 bytes, k is 0", append(none, 0), false},
		{"9 bytes, k is reserved", append(none, 31), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := filter.NewBloom(10).Check(tt.filter); (err == nil) != tt.ok {
				t.Errorf("Check = %v, want ok = %v", err, tt.ok)
			}
		})
	}
}

// A Generator starts anew after Generate, and clears what an Alloc hands out.
func TestGeneratorReuseInDirtyMemory(t *testing.T) {
	t.Parallel()
	p := filter.NewBloom(10)
	g := p.NewGenerator()
	dirty := filter.Bytes(bytes.Repeat([]byte{0xff}, 100))[:0]
	for _, key := range []string{"one", "two", "three"} {
		t.Run(key, func(t *testing.T) {
			dirty = dirty[:0]
			g.Add([]byte(key))
			g.Generate(&dirty)
			if diff := cmp.Diff(build(p, key), []byte(dirty)); diff != "" {
				t.Errorf("filter (-fresh +reused):\n%s", diff)
			}
		})
	}
}

func TestAddDoesNotKeepTheKey(t *testing.T) {
	t.Parallel()
	p := filter.NewBloom(10)
	g := p.NewGenerator()
	key := []byte("before")
	g.Add(key)
	copy(key, "after!")
	var b filter.Bytes
	g.Generate(&b)
	if diff := cmp.Diff(build(p, "before"), []byte(b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
