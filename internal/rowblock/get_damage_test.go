package rowblock_test

import (
	"testing"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// A lookup checks the entries that it passes: a restart point must share nothing, and an entry no more than the last
// key has. Each block has a key that a lookup would miss if it ignored the fault.
func TestGetChecksWhatItComesTo(t *testing.T) {
	t.Parallel()
	first := rawtable.Entry(0, "ab", "1")
	for _, tt := range []struct {
		name, block, key string
	}{
		{"a restart point that shares a byte", first + rawtable.Entry(1, "c", "2") + rawtable.Restarts(0, uint32(len(first))), "b"},
		{"an entry that shares a byte more than there is", first + rawtable.Entry(3, "c", "2") + rawtable.Restarts(0), "abx"},
		{"an entry that shares two bytes more", first + rawtable.Entry(4, "c", "2") + rawtable.Restarts(0), "abx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if v, found, err := get([]byte(tt.block), rowblock.Order{}, []byte(tt.key), nil); err == nil {
				t.Errorf("Get = %q, %v, want an error", v, found)
			}
			if k, _, found, err := rowblock.SeekGE(new([]byte), []byte(tt.block), rowblock.Order{}, []byte(tt.key), unbounded()); err == nil {
				t.Errorf("SeekGE = %q, %v, want an error", k, found)
			}
		})
	}
}
