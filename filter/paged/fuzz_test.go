package paged_test

import (
	"bytes"
	"testing"

	"github.com/sievetable/sievetable/filter/paged"
)

// FuzzOpen opens filters with arbitrary trailers and bits under valid checksums. They are refused, or lookups follow
// the format.
func FuzzOpen(f *testing.F) {
	sound := build(f, 10, numbered(1, 600))
	f.Add(sound[4096:], sound[:4092], byte(1), numbered(1, 1)[0])
	f.Add(plain{pages: 3, lgPage: 12, hash: 1, k: 2, format: 1}.trailer(), []byte{0xff}, byte(3), []byte("key"))
	f.Add(plain{pages: 1 << 52, lgPage: 12, hash: 1, k: 255, format: 1}.trailer(), []byte{}, byte(0), []byte(""))
	f.Fuzz(func(t *testing.T, trailer, bits []byte, pages byte, key []byte) {
		contents := make([]byte, int(pages%5)*4096+36)
		for i := 0; len(bits) > 0 && i < len(contents); i += len(bits) {
			copy(contents[i:], bits)
		}
		copy(contents[len(contents)-36:], trailer)
		p, ok := repair(contents)
		o, err := paged.Policy{}.Open(contents)
		if (err == nil) != ok {
			t.Fatalf("Open returns %v, want accepted: %v", err, ok)
		}
		if !ok {
			return
		}
		want := p.contains(contents, key)
		r := newReader(t, contents)
		if got, err := r.Contains(key); got != want || err != nil || o.Contains(key) != want {
			t.Errorf("%v, %v and in memory %v, want %v", got, err, o.Contains(key), want)
		}
	})
}

// FuzzDamage changes bytes of a filter: no key is ruled out, and a shapeReader returns the same result or an error.
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
		r := newReader(t, contents)
		n := r.pageOf(key)
		changed := !bytes.Equal(contents[n*4096:][:4096], sound[n*4096:][:4096])
		if found, err := r.Contains(key); !o.Contains(key) || found == changed || (err != nil) != changed {
			t.Errorf("%v, %v and in memory %v, page %d is changed: %v", found, err, o.Contains(key), n, changed)
		}
	})
}

// FuzzKeys builds filters of arbitrary keys. They contain the keys, and have the documented bytes.
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
