package filter_test

import (
	"testing"

	"github.com/sievetable/sievetable/filter"
)

// A corrupt filter may contain every key, and Check finds it. The other filters of its block are used.
func TestDamagedFilterMayContainEveryKey(t *testing.T) {
	t.Parallel()
	nine := string(make([]byte, 8)) + "\x06" // a Bloom filter of no keys
	for _, tt := range []struct {
		name  string
		block string
	}{
		{"a filter that ends before it starts", nine + "\x05\x00\x00\x00\x00\x00\x00\x00" + "\x09\x00\x00\x00" + "\x0b"},
		{"a filter that starts past the array", nine + "\x0a\x00\x00\x00" + "\x09\x00\x00\x00" + "\x0b"},
		{"an empty filter past the array", nine + "\x0a\x00\x00\x00\x0a\x00\x00\x00" + "\x09\x00\x00\x00" + "\x0b"},
		{"the second of two", nine + nine[:8] + "\x00" + "\x00\x00\x00\x00\x09\x00\x00\x00" + "\x12\x00\x00\x00" + "\x0b"},
		{"a filter of 8 bytes", nine[1:] + "\x00\x00\x00\x00" + "\x08\x00\x00\x00" + "\x0b"},
		{"a filter of one byte", "\x06" + "\x00\x00\x00\x00" + "\x01\x00\x00\x00" + "\x0b"},
		{"a filter with k = 0", nine[:8] + "\x00" + "\x00\x00\x00\x00" + "\x09\x00\x00\x00" + "\x0b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, p := range []filter.Policy{filter.NewBloom(10), filter.Rename(filter.NewBloom(10), "x")} {
				r := newReader(t, []byte(tt.block), p)
				for i := range uint64(r.Len()) {
					sound := tt.name == "the second of two" && i == 0 || tt.name == "a filter that ends before it starts" && i == 1
					if r.Contains(i<<11, []byte("key")) == sound {
						t.Errorf("Contains by filter %d = %t", i, sound)
					}
				}
				if r.Check() == nil {
					t.Error("Check finds nothing")
				}
			}
		})
	}
}
