package table

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever the handles are, they come out as they went in.
func TestBlockHandles(t *testing.T) {
	for name, want := range map[string][]Handle{
		"none":            nil,
		"without gaps":    {{0, 1}, {6, 10}, {21, 100}},
		"behind a gap":    {{100, 1}, {106, 10}},
		"a gap":           {{0, 1}, {6, 10}, {22, 100}, {127, 3}},
		"up to 4 GiB":     {{0, 1 << 31}, {1<<31 + 5, 1<<31 - 11}},
		"one byte beyond": {{0, 1 << 31}, {1<<31 + 5, 1<<31 - 9}},
		"far":             {{math.MaxUint32 + 1, 7}, {math.MaxUint32 + 13, 7}},
		"huge":            {{0, math.MaxUint32}, {math.MaxUint32 + 5, 1 << 40}},
	} {
		b := makeBlockHandles(len(want))
		for _, h := range want {
			b.append(h)
		}
		var got []Handle
		for i := range b.len() {
			got = append(got, b.at(i))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
