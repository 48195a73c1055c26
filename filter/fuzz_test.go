package filter_test

import (
	"bytes"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// FuzzNewBlockReader opens arbitrary filter blocks. They are refused, or lookups in them and in each of their
// filters do not panic.
func FuzzNewBlockReader(f *testing.F) {
	f.Add([]byte(""), uint64(0), []byte("key"))
	block := buildBlock(f, filter.NewBloom(10), 11, []dataBlock{{0, "a"}, {3000, "b"}, {12_000, "c d"}})
	f.Add(block, uint64(3000), []byte("b"))
	f.Fuzz(func(t *testing.T, block []byte, offset uint64, key []byte) {
		r, err := filter.NewBlockReader(block, filter.NewBloom(10))
		if err != nil {
			return
		}
		r.Contains(offset, key)
		for i := range uint64(len(block)) {
			r.Contains(i<<(block[len(block)-1]), key)
		}
	})
}

// FuzzBloom checks that a filter contains its keys, and that a union of two contains the keys of both.
func FuzzBloom(f *testing.F) {
	f.Add(10, []byte("one"), []byte(""))
	f.Add(0, []byte("\xff\xfe"), []byte("\x80\x81\x82"))
	f.Fuzz(func(t *testing.T, bits int, a, b []byte) {
		p := filter.NewBloom(bits % 10_000)
		fa, fb := filtertest.Build(p, a), filtertest.Build(p, b)
		u, err := filter.Union(fa, fb)
		noError(t, err)
		if !p.Contains(fa, a) || !p.Contains(u, a) || !p.Contains(u, b) {
			t.Errorf("false negative: %d bits per key, keys %q and %q", bits, a, b)
		}
	})
}

// FuzzTableBloom opens arbitrary table filters. They are refused, or lookups do not panic. A filter contains its
// keys.
func FuzzTableBloom(f *testing.F) {
	f.Add(filtertest.BuildTable(f, filter.NewTableBloom(10), "a", "b"), 10, []byte("a"))
	f.Add([]byte("\xff\x01\x00\x00\x00"), 0, []byte(""))
	f.Fuzz(func(t *testing.T, any []byte, bits int, key []byte) {
		p := filter.NewTableBloom(bits % 10_000)
		if r, err := p.Open(any); err == nil {
			r.Contains(key)
		}
		r := openTable(t, filtertest.BuildTable(t, p, any, key))
		if !r.Contains(any) || !r.Contains(key) {
			t.Errorf("false negative: %d bits per key, keys %q and %q", bits, any, key)
		}
	})
}

// FuzzOpenDynamicBloom opens arbitrary filters. They are refused, or they have the same Bytes, agree with Bloom, and
// accept keys.
func FuzzOpenDynamicBloom(f *testing.F) {
	f.Add(filtertest.Build(filter.NewBloom(10), "a", "b"), []byte("a"))
	f.Add([]byte("12345678901\x1e"), []byte(""))
	f.Fuzz(func(t *testing.T, contents, key []byte) {
		d, err := filter.OpenDynamicBloom(contents)
		if err != nil {
			return
		}
		if !bytes.Equal(d.Bytes(), contents) {
			t.Errorf("%x became %x", contents, d.Bytes())
		}
		if got, want := d.Contains(key), filter.NewBloom(0).Contains(contents, key); got != want {
			t.Errorf("Contains = %v, Bloom's is %v", got, want)
		}
		d.Add(key)
		if !d.Contains(key) || !filter.NewBloom(0).Contains(d.Bytes(), key) {
			t.Error("a key that was added is denied")
		}
		if err := d.Intersect(d); err != nil || !d.Contains(key) {
			t.Errorf("a filter is not its own intersection: %v", err)
		}
	})
}
