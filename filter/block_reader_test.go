package filter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Filter returns each filter by its index. A filter of 0 bytes contains no keys, even if it is the first one. A data
// block after the last filter has none, and may contain every key.
func TestFilterReturnsEachFilterOfABlock(t *testing.T) {
	t.Parallel()
	contents := buildBlock(t, listPolicy{}, 4, []dataBlock{{0, ""}, {16, "a b"}, {50, "c"}})
	b := newReader(t, contents, listPolicy{})
	var got []string
	for i := range b.Len() {
		got = append(got, string(b.Filter(i)))
	}
	if diff := cmp.Diff([]string{"", "a,b,", "", "c,"}, got); diff != "" || b.BaseLg() != 4 {
		t.Errorf("base lg %d, want 4; filters (-want +got):\n%s", b.BaseLg(), diff)
	}
	for i, want := range []bool{false, true, false, false, true} {
		if got := b.Contains(uint64(i)<<4, []byte("a")); got != want {
			t.Errorf("data block at %d: Contains = %v, want %v", i<<4, got, want)
		}
	}
}
