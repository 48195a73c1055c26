package filter_test

import (
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
)

// Every error begins with the package's name, once.
func TestErrorsNameThePackage(t *testing.T) {
	bloom := filter.NewBloom(10)
	for _, tt := range []struct {
		want string
		give func() error
	}{
		{"filter: no policy", func() error { _, err := filter.NewBlockWriter(nil, 11); return err }},
		{"filter: base lg is 31: must be 0 to 30", func() error { _, err := filter.NewBlockWriter(bloom, 31); return err }},
		{"filter: data block at 1 after the one at 2: offsets must ascend", func() error { return startBlocks(2, 1) }},
		{"filter: filter block of more than 4294967295 bytes: write a smaller table, or use a larger base lg", func() error { return startBlocks(1 << 62) }},
		{"filter: no policy", func() error { _, err := filter.NewBlockReader(nil, nil); return err }},
		{"filter: filter block of 4 bytes is too short (minimum 5)", func() error { return openBlock("\x00\x00\x00\x0b") }},
		{"filter: filter offsets at [5, 4): not a whole number of 4-byte offsets", func() error { return openBlock("\x00\x00\x00\x00\x05\x00\x00\x00\x0b") }},
		{"filter: base lg is 31 (maximum 30)", func() error { return openBlock("\x00\x00\x00\x00\x1f") }},
		{"filter: filter 0 is at [1, 0): out of order, or outside the 0 bytes of filters", func() error { return openBlock("\x01\x00\x00\x00\x00\x00\x00\x00\x0b") }},
		{"filter: Bloom filter of 1 bytes is too short (minimum 9), in filter 0 of the block", func() error { return openBlock("\x06\x00\x00\x00\x00\x01\x00\x00\x00\x0b") }},
		{"filter: Bloom filter of 0 bytes is too short (minimum 9)", func() error { return bloom.Check(nil) }},
		{"filter: Bloom filter of 0 bytes is too short (minimum 9), in the first filter of a union", func() error { _, err := filter.Union(nil, nil); return err }},
		{"filter: table filter of 0 bytes is too short (minimum 69)", func() error { _, err := filter.NewTableBloom(10).Open(nil); return err }},
		{"filter: false-positive rate 2: must be > 0 and < 1", func() error { _, err := filter.ForRate(filter.NewBloom, 1, 2); return err }},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if err := tt.give(); err == nil || err.Error() != tt.want || strings.Count(err.Error(), "filter: ") != 1 {
				t.Errorf("error is %q, want %q", err, tt.want)
			}
		})
	}
}

// startBlocks starts data blocks at the offsets, with a base lg of 0.
func startBlocks(offsets ...uint64) error {
	w, err := filter.NewBlockWriter(listPolicy{}, 0)
	if err != nil {
		return err
	}
	for _, offset := range offsets {
		if err := w.StartBlock(offset); err != nil {
			return err
		}
	}
	return nil
}

// openBlock opens a filter block of Bloom filters, and checks them.
func openBlock(block string) error {
	r, err := filter.NewBlockReader([]byte(block), filter.NewBloom(10))
	if err != nil {
		return err
	}
	return r.Check()
}
