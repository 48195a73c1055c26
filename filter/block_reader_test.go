package filter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
)

// Filter returns each filter by its number, also one of 0 bytes.
func TestFilterReturnsEachFilterOfABlock(t *testing.T) {
	t.Parallel()
	contents := buildBlock(t, listPolicy{}, 4, []dataBlock{{0, "a b"}, {40, "c"}})
	b, err := filter.NewBlockReader(contents, listPolicy{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range b.Len() {
		got = append(got, string(b.Filter(i)))
	}
	if diff := cmp.Diff([]string{"a,b,", "", "c,"}, got); diff != "" || b.BaseLg() != 4 {
		t.Errorf("base lg %d, want 4; filters (-want +got):\n%s", b.BaseLg(), diff)
	}
}
