package filter_test

import (
	"testing"

	"github.com/sievetable/sievetable/filter"
)

// FuzzNewBlockReader opens filter blocks of any bytes. They are refused, or they and
// each of their filters answer without a panic.
func FuzzNewBlockReader(f *testing.F) {
	f.Add([]byte(""), uint64(0), []byte("key"))
	w, err := filter.NewBlockWriter(filter.NewBloom(10), 11)
	if err != nil {
		f.Fatal(err)
	}
	for i := range uint64(10) {
		if err := w.StartBlock(i * 3000); err != nil {
			f.Fatal(err)
		}
		w.Add([]byte{byte(i)})
	}
	block, err := w.Finish()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(block, uint64(6000), []byte{2})
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

// FuzzBloom holds that a filter contains its keys, and that a union of two
// contains the keys of both.
func FuzzBloom(f *testing.F) {
	f.Add(10, []byte("one"), []byte(""))
	f.Add(0, []byte("\xff\xfe"), []byte("\x80\x81\x82"))
	f.Fuzz(func(t *testing.T, bits int, a, b []byte) {
		p := filter.NewBloom(bits % 10_000)
		fa, fb := build(p, string(a)), build(p, string(b))
		u, err := filter.Union(fa, fb)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Contains(fa, a) || !p.Contains(u, a) || !p.Contains(u, b) {
			t.Errorf("false negative: %d bits per key, keys %q and %q", bits, a, b)
		}
	})
}

// FuzzTableBloom opens table filters of any bytes: they are refused, or answer without
// a panic. A filter contains its keys.
func FuzzTableBloom(f *testing.F) {
	f.Add(buildTableFilter(f, filter.NewTableBloom(10), "a", "b"), 10, []byte("a"))
	f.Add([]byte("\xff\x01\x00\x00\x00"), 0, []byte(""))
	f.Fuzz(func(t *testing.T, any []byte, bits int, key []byte) {
		p := filter.NewTableBloom(bits % 10_000)
		if r, err := p.Open(any); err == nil {
			r.Contains(key)
		}
		r, err := p.Open(buildTableFilter(t, p, string(any), string(key)))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Contains([]byte(any)) || !r.Contains(key) {
			t.Errorf("false negative: %d bits per key, keys %q and %q", bits, any, key)
		}
	})
}
