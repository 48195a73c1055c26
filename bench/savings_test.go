package bench

import (
	"errors"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// With 10 bits per key, the lookup of an absent key reads at most 0.02 data blocks, and without the filter about one.
func TestSavings(t *testing.T) {
	long.Test(t)
	t.Parallel()
	w2, err := workload.W2()
	noError(t, err)
	for _, w := range []struct {
		name string
		set  workload.Set
	}{
		{"W1 of 100,000 entries", workload.W1(100_000)},
		{"W2", w2},
	} {
		for _, c := range codecs {
			contents := build(t, w.set, c.codec)
			if got := blocksPerAbsentKey(t, contents, w.set, false); got > 0.02 {
				t.Errorf("%s, %s: %.4f blocks per absent key, want at most 0.02", w.name, c.name, got)
			}
			if got := blocksPerAbsentKey(t, contents, w.set, true); got < 0.99 {
				t.Errorf("%s, %s: %.4f blocks per absent key without the filter, want about 1", w.name, c.name, got)
			}
		}
	}
}

func blocksPerAbsentKey(t *testing.T, contents []byte, set workload.Set, ignore bool) float64 {
	t.Helper()
	var m table.Metrics
	r := tabletest.Open(t, contents, &table.ReaderOptions{IgnoreFilter: ignore, Metrics: &m})
	for _, k := range set.Absent {
		if _, err := r.Get(k); !errors.Is(err, table.ErrNotFound) {
			t.Fatalf("Get(%q) = %v, want ErrNotFound", k, err)
		}
	}
	return float64(m.BlocksRead.Load()) / float64(m.Lookups.Load())
}
