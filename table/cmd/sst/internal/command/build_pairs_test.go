package command

import (
	"io"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/progress"
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
	got := testing.AllocsPerRun(1, func() {
		c := &copier{targetFlags: new(targetFlags), bar: sync.OnceValue(func() *progress.Bar { return progress.Count(io.Discard, n, "writing", "pairs") })}
		err := c.fill(discardPairs{}, func(c *copier) error {
			_, err := appendChosen(c, records, ruleFirst)
			return err
		}, func() error { return nil })
		if err != nil || c.pairs != n {
			t.Error(c.pairs, err)
		}
	})
	if got > n/10 {
		t.Errorf("%v allocations for %d pairs", got, n)
	}
}

type discardPairs struct{}

func (discardPairs) Append(_, _ []byte) error { return nil }
