package blocked_test

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// If there is too little memory for a filter, every way to create it returns an error with the number of bytes.
func TestTooLittleMemoryIsAnError(t *testing.T) {
	if !filtertest.InLittleMemory(t) {
		return
	}
	small := newFilter(t, 1_000_000, 0.01)
	for name, create := range map[string]func() (*blocked.Filter, error){
		"New": func() (*blocked.Filter, error) { return blocked.New(4_000_000_000, 0.01) },
		"Read": func() (*blocked.Filter, error) {
			return blocked.Read(io.MultiReader(bytes.NewReader(header("SieveBlk", 1, 6, 1<<26)), zeros{}))
		},
	} {
		f, err := create()
		if f != nil || err == nil || !strings.Contains(err.Error(), " bytes of memory: cannot allocate memory") && math.MaxInt > math.MaxInt32 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if small.AddHash(1); !small.ContainsHash(1) { // the program goes on
		t.Error("a key that was added is denied")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// SizeFor returns the Size of the filter from New, even if there is no memory for it.
func TestSizeFor(t *testing.T) {
	t.Parallel()
	for _, keys := range []uint64{0, 1, 100, 12_345, 1_000_000} {
		for _, rate := range []float64{0.5, 0.01, 1e-9} {
			got, err := blocked.SizeFor(keys, rate)
			if want := newFilter(t, keys, rate).Size(); err != nil || got != uint64(want) {
				t.Errorf("SizeFor(%d, %g) = %d, %v, want %d", keys, rate, got, err, want)
			}
		}
	}
	const most = 110_259_443_424
	if got, err := blocked.SizeFor(10_000_000_000, 1e-9); err != nil || got != most {
		t.Errorf("SizeFor(1e10, 1e-9) = %d, %v, want %d", got, err, uint64(most))
	}
}
