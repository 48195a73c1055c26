package filter_test

import (
	"testing"

	"github.com/sievetable/sievetable/filter"
)

func TestNewBlockReaderRefusesDamage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		block string
	}{
		{"no bytes", ""},
		{"4 bytes", "\x00\x00\x00\x0b"},
		{"array offset past the end", "\x00\x00\x00\x00" + "\x05\x00\x00\x00" + "\x0b"},
		{"array offset of 4 GiB", "\xff\xff\xff\xff" + "\x0b"},
		{"array not of whole offsets", "\x00\x00" + "\x00\x00\x00\x00" + "\x0b"},
		{"base lg 31", "\x00\x00\x00\x00" + "\x1f"},
		{"base lg 255", "\x00\x00\x00\x00" + "\xff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, p := range []filter.Policy{filter.NewBloom(10), filter.Rename(filter.NewBloom(10), "x")} {
				if r, err := filter.NewBlockReader([]byte(tt.block), p); err == nil {
					t.Errorf("NewBlockReader = %v, nil; want an error", r)
				}
			}
		})
	}
}

// A damaged filter may contain every key, and Check finds it. The other filters of its block are used.
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
				r, err := filter.NewBlockReader([]byte(tt.block), p)
				if err != nil {
					t.Errorf("NewBlockReader = %v", err)
					continue
				}
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

func TestNewBlockReaderRefusesNoPolicy(t *testing.T) {
	t.Parallel()
	if _, err := filter.NewBlockReader([]byte("\x00\x00\x00\x00\x0b"), nil); err == nil {
		t.Error("no error")
	}
}
