package paged_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// checkCorrupt checks that lookups in corrupt pages return true in memory, and an error by the page, and that other
// lookups agree.
func checkCorrupt(t *testing.T, contents []byte, keys [][]byte, corrupt ...uint64) {
	t.Helper()
	f, r := open(t, contents), newReader(t, contents)
	for _, key := range slices.Concat(keys, numbered(99, 20)) {
		n := r.pageOf(key)
		mayContain, err := r.Contains(key)
		if !slices.Contains(corrupt, n) {
			if err != nil || mayContain != f.Contains(key) {
				t.Errorf("page %d: the Reader answers %v, %v, and Contains %v", n, mayContain, err, f.Contains(key))
			}
			continue
		}
		if want := fmt.Sprintf("paged: corrupt page %d: checksum mismatch", n); !errors.Is(err, paged.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("corrupt page %d: the Reader answers %v, %v", n, mayContain, err)
		}
		for range 2 { // not only at the first lookup in the page
			if !f.Contains(key) {
				t.Errorf("corrupt page %d rules out a key", n)
			}
		}
	}
	filtertest.CheckContains(t, f.Contains, keys)
}

// Each byte is changed. In a page, it affects only lookups there. In the trailer, Open returns an error.
func TestEveryByteChanged(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	keys := numbered(1, 40)
	for _, bitsPerKey := range []int{10, 64} {
		contents := build(t, bitsPerKey, keys)
		for i := range contents {
			damaged := bytes.Clone(contents)
			damaged[i] ^= byte(i%255 + 1)
			if i < len(contents)-36 {
				checkCorrupt(t, damaged, keys[:5], uint64(i/4096))
				continue
			}
			if _, err := (paged.Policy{}).Open(damaged); err == nil {
				t.Errorf("byte %d: Open returns no error", i)
			}
		}
	}
}

// Each byte is changed under valid checksums: the filter is refused, or lookups follow the format.
func TestEveryByteChangedUnderRightChecksums(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	keys := slices.Concat(numbered(1, 40), numbered(99, 20))
	p := plainOf(10, keys[:40]...)
	contents := p.build(keys[:40]...)
	for i := range contents {
		damaged := bytes.Clone(contents)
		damaged[i] ^= byte(i%255 + 1)
		changed, ok := repair(damaged)
		f, err := paged.Policy{}.Open(damaged)
		if (err == nil) != ok {
			t.Errorf("byte %d: Open returns %v, want accepted: %v", i, err, ok)
		}
		for _, key := range keys {
			if ok && f.Contains(key) != changed.contains(damaged, key) {
				t.Errorf("byte %d: Contains(%x) = %v", i, key, f.Contains(key))
			}
		}
	}
}

// repair sets all checksums of a filter of a few pages, and returns the trailer's fields. ok is false if they do not
// fit the filter's size.
func repair(contents []byte) (p plain, ok bool) {
	b := contents[len(contents)-36:]
	p = plain{
		seed: binary.LittleEndian.Uint64(b), keys: binary.LittleEndian.Uint64(b[8:]), pages: binary.LittleEndian.Uint64(b[16:]),
		hashSum: binary.LittleEndian.Uint32(b[24:]), lgPage: b[28], hash: b[29], k: b[30], format: b[31],
	}
	copy(b, p.trailer())
	for n := range uint64(len(contents) / 4096) {
		p.seal(contents[n*4096:][:4096], n)
	}
	ok = p.pages > 0 && p.pages < 1<<32 && p.pages*4096+36 == uint64(len(contents))
	return p, ok && p.lgPage == 12 && p.hash == 1 && p.k > 0 && p.format == 1
}

// A page from another place or another filter is rejected, although its checksum is valid.
func TestPagesInWrongPlaces(t *testing.T) {
	t.Parallel()
	keys := numbered(1, 12_000)
	whole := build(t, 10, keys)
	page := func(contents []byte, n int) []byte { return contents[n*4096:][:4096] }
	for _, tt := range []struct {
		name    string
		change  func(contents []byte)
		corrupt []uint64
	}{
		{"swapped", func(b []byte) { copy(page(b, 1), page(whole, 2)); copy(page(b, 2), page(whole, 1)) }, []uint64{1, 2}},
		{"twice", func(b []byte) { copy(page(b, 3), page(b, 0)) }, []uint64{3}},
		{"of other keys", func(b []byte) { copy(page(b, 0), page(build(t, 10, numbered(2, 12_000)), 0)) }, []uint64{0}},
		{"of other bits per key", func(b []byte) { copy(page(b, 0), page(build(t, 11, keys), 0)) }, []uint64{0}},
		{"of the trailer of other keys", func(b []byte) { copy(b[4*4096:], build(t, 10, numbered(2, 12_000))[4*4096:]) }, []uint64{0, 1, 2, 3}},
		{"zeros", func(b []byte) { clear(page(b, 2)) }, []uint64{2}},
		{"none", func(b []byte) {}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			contents := bytes.Clone(whole)
			tt.change(contents)
			checkCorrupt(t, contents, keys, tt.corrupt...)
		})
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	page := make([]byte, 4096)
	good := plain{pages: 1, lgPage: 12, hash: 1, k: 7, format: 1}
	changed := func(change func(p *plain)) []byte {
		p := good
		change(&p)
		return append(bytes.Clone(page), p.trailer()...)
	}
	wrongSum := good.build()
	wrongSum[len(wrongSum)-1] ^= 1
	for _, tt := range []struct {
		name     string
		contents []byte
		want     string
	}{
		{"nothing", nil, "paged: corrupt filter of 0 bytes is too short (minimum 4132)"},
		{"a trailer alone", good.trailer(), "paged: corrupt filter of 36 bytes is too short (minimum 4132)"},
		{"4131 bytes", good.build()[1:], "paged: corrupt filter of 4131 bytes"},
		{"a byte more", append([]byte{0}, good.build()...), "corrupt filter of 4133 bytes: 1 pages and k = 7"},
		{"a page more", append(page, good.build()...), "corrupt filter of 8228 bytes: 1 pages and k = 7"},
		{"version", changed(func(p *plain) { p.format = 2 }), "filter of version 2, not 1: update this package"},
		{"checksum", wrongSum, "corrupt trailer: checksum mismatch: stored 0x"},
		{"page size", changed(func(p *plain) { p.lgPage = 13 }), "pages of 2^13 bytes and hash 1, not 2^12 and 1"},
		{"hash", changed(func(p *plain) { p.hash = 2 }), "pages of 2^12 bytes and hash 2"},
		{"k", changed(func(p *plain) { p.k = 0 }), "corrupt filter of 4132 bytes: 1 pages and k = 0"},
		{"no pages", changed(func(p *plain) { p.pages = 0 }), "0 pages and k = 7"},
		{"2^52+1 pages", changed(func(p *plain) { p.pages = 1<<52 + 1 }), "4503599627370497 pages"},
		{"2^64-1 pages", changed(func(p *plain) { p.pages = math.MaxUint64 }), "18446744073709551615 pages"},
	} {
		_, err := paged.Policy{}.Open(tt.contents)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Open returns %v, want an error with %q", tt.name, err, tt.want)
		}
		if want := tt.name != "version"; errors.Is(err, paged.ErrCorrupt) != want {
			t.Errorf("%s: %v is an ErrCorrupt: %v, want %v", tt.name, err, !want, want)
		}
	}
}

func TestShapeWantsTheWholeTrailerAndPage(t *testing.T) {
	t.Parallel()
	contents := build(t, 10, numbered(1, 10))
	const want = "paged: tail of 35 bytes is too short (minimum 36)"
	if _, err := paged.ReadShape(contents[len(contents)-35:], uint64(len(contents))); fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
	s := newReader(t, contents)
	for n := range contents {
		if err := s.CheckPage(contents[:n], 0); (err == nil) != (n == 4096) || err != nil && !errors.Is(err, paged.ErrCorrupt) {
			t.Errorf("a page of %d bytes: %v", n, err)
		}
	}
}
