package command

import (
	"io"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/merge"
)

// Whether there is a terminal to show progress on is found out once, and not for each pair.
func TestWritingAllocatesNothingForEachPair(t *testing.T) {
	const n = 10_000
	records := func(yield func(*merge.Sorted, error) bool) {
		var r merge.Sorted
		for r.Number = range uint64(n) {
			if !yield(&r, nil) {
				return
			}
		}
	}
	f := &buildFlags{onDuplicate: "first"}
	got := testing.AllocsPerRun(1, func() {
		if err := f.appendDeduplicated(discardPairs{}, records, &input.Reader{Stderr: io.Discard}); err != nil {
			t.Error(err)
		}
	})
	if got > n/10 {
		t.Errorf("%v allocations for %d pairs", got, n)
	}
}

type discardPairs struct{}

func (discardPairs) Append(_, _ []byte) error { return nil }
