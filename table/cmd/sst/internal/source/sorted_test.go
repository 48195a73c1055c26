package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// Of pairs with equal keys a sorted table has the last, or the first and names the others: in memory, and on disk.
func TestSortedTableHasOneOfEqualKeys(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"in memory": 1, "on disk": maxSortInMemory / 2} {
		pairs := func(yield func(input.Pair, error) bool) {
			for _, p := range []string{"b1", "a1", "c1", "b2", "a2", "b3"} {
				if !yield(input.Pair{Key: []byte(p[:1]), Value: []byte(strings.Repeat(p[1:], size))}, nil) {
					return
				}
			}
		}
		var repeated []string
		for _, tt := range []struct {
			call func(key []byte)
			want []string
		}{
			{nil, []string{"a2", "b3", "c1"}},
			{func(key []byte) { repeated = append(repeated, string(key)) }, []string{"a1", "b1", "c1"}},
		} {
			s, err := newSortedTable(pairs, stored{Order: table.BytewiseComparer}, tt.call)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for e, err := range s.All(nil) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(e.Key)+string(e.Value[:1]))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
		}
		if want := []string{"a", "b", "b"}; !slices.Equal(repeated, want) {
			t.Errorf("%s: %q are repeated, want %q", name, repeated, want)
		}
	}
}
