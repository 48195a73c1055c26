package filter_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filterblock"
)

// Spans.At returns what Span returns, whatever the data blocks are.
func TestSpansAreThoseOfSpan(t *testing.T) {
	t.Parallel()
	many := func(blocks int) (all []dataBlock) {
		for i := range blocks {
			all = append(all, dataBlock{0, fmt.Sprint("k", i)})
		}
		return all
	}
	for _, tt := range []struct {
		name   string
		blocks []dataBlock
		size   int64 // of the Spans, in bytes
	}{
		{"none", nil, 4},
		{"one", []dataBlock{{0, "a"}}, 8},
		{"one filter each", []dataBlock{{0, "a b"}, {20, "c"}, {50, "d e f"}}, 16},
		{"shared filters", []dataBlock{{0, "a"}, {3, "b"}, {20, "c"}, {30, "d"}, {31, "e"}}, 24},
		{"a block without keys", []dataBlock{{0, "a"}, {16, ""}, {32, "b"}}, 24},
		{"16 blocks of one filter", many(16), 68},
		{"16 blocks of one filter, and one of the next", slices.Concat(many(16), []dataBlock{{16, "x"}}), 72},
		{"17 blocks of one filter: At would look too far", many(17), 136},
	} {
		t.Run(tt.name, func(t *testing.T) {
			contents := buildBlock(t, listPolicy{}, 4, tt.blocks)
			b, err := filter.NewBlockReader(contents, listPolicy{})
			if err != nil {
				t.Fatal(err)
			}
			r := filterblock.ReaderOf(b)
			spans := r.Spans(len(tt.blocks), func(i int) uint64 { return tt.blocks[i].offset })
			var got, want []filterblock.Span
			for i, block := range tt.blocks {
				got, want = append(got, spans.At(i)), append(want, r.Span(block.offset))
				for _, key := range strings.Fields(block.keys) {
					if !r.ContainsInSpan(spans.At(i), []byte(key)) {
						t.Errorf("block %d: its key %q is denied", i, key)
					}
				}
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(filterblock.Span{})); diff != "" {
				t.Errorf("Spans (-Span +At):\n%s", diff)
			}
			if got := spans.Size(); got != tt.size {
				t.Errorf("Size() = %d, want %d", got, tt.size)
			}
		})
	}
}
