package paged_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter/paged"
)

// FuzzOpen opens filters of any bytes, with all checksums put right: they are refused, or answer as the format says.
// contents are made to be pages and a trailer.
func FuzzOpen(f *testing.F) {
	f.Add(build(f, 10, numbered(1, 3)), []byte("key"))
	f.Add(build(f, 64, numbered(1, 600)), numbered(1, 600)[599])
	f.Add(plain{pages: 1 << 63, lgPage: 12, hash: 1, k: 255, format: 1}.trailer(), []byte(""))
	f.Fuzz(func(t *testing.T, contents, key []byte) {
		if _, err := (paged.Policy{}).Open(bytes.Clone(contents)); err == nil && len(contents)%4096 != 36 {
			t.Fatalf("a filter of %d bytes", len(contents))
		}
		if len(contents) < 36 {
			return
		}
		pages := (len(contents) - 36 + 4095) / 4096 * 4096
		contents = slices.Concat(make([]byte, pages-(len(contents)-36)), contents)
		p, ok := repair(contents)
		o, err := paged.Policy{}.Open(contents)
		if (err == nil) != ok {
			t.Fatalf("Open returns %v, want accepted: %v", err, ok)
		}
		if !ok {
			return
		}
		want := p.contains(contents, key)
		r := newReader(t, bytes.NewReader(contents), len(contents))
		if got, err := r.Contains(t.Context(), key); got != want || err != nil || o.Contains(key) != want {
			t.Errorf("%v, %v and in memory %v, want %v", got, err, o.Contains(key), want)
		}
	})
}

// FuzzDamage changes bytes of a filter: no key is denied, and the Reader returns its answer or an error.
func FuzzDamage(f *testing.F) {
	keys := numbered(1, 600)
	sound := build(f, 64, keys)
	f.Add(uint16(5), []byte{1}, uint16(0))
	f.Add(uint16(4090), []byte("across pages"), uint16(599))
	f.Add(uint16(8192), []byte{0, 0, 0, 0, 0, 0, 0, 0, 1}, uint16(1)) // in the trailer
	f.Fuzz(func(t *testing.T, at uint16, with []byte, i uint16) {
		contents, key := bytes.Clone(sound), keys[int(i)%len(keys)]
		for j, b := range with {
			contents[(int(at)+j)%len(contents)] ^= b
		}
		o, err := paged.Policy{}.Open(contents)
		if changed := !bytes.Equal(contents[8192:], sound[8192:]); (err != nil) != changed {
			t.Fatalf("Open returns %v, the trailer is changed: %v", err, changed)
		}
		if err != nil {
			return
		}
		r := newReader(t, bytes.NewReader(contents), len(contents))
		n := pageOf(r, key)
		changed := !bytes.Equal(contents[n*4096:][:4096], sound[n*4096:][:4096])
		if found, err := r.Contains(t.Context(), key); !o.Contains(key) || found == changed || (err != nil) != changed {
			t.Errorf("%v, %v and in memory %v, page %d is changed: %v", found, err, o.Contains(key), n, changed)
		}
	})
}

// FuzzKeys builds filters of any keys, which they contain, in the bytes of the format.
func FuzzKeys(f *testing.F) {
	f.Add(10, []byte(""), []byte("a"))
	f.Add(64, []byte("\x00"), bytes.Repeat([]byte("long"), 100))
	f.Fuzz(func(t *testing.T, bits int, a, b []byte) {
		if bytes.Equal(a, b) {
			return
		}
		bits = 1 + int(uint(bits)%64)
		contents := build(t, bits, [][]byte{a, b})
		if !bytes.Equal(contents, plainOf(bits, a, b).build(a, b)) {
			t.Error("the bytes are not those of the format")
		}
		if o := open(t, contents); !o.Contains(a) || !o.Contains(b) {
			t.Error("a key is denied")
		}
	})
}
