package blocked_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// A filter for which there is too little memory is an error that names the bytes, however it is made.
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

// SizeFor is the Size of the filter that New returns, also of one for which there is no memory.
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
	for _, tt := range []struct {
		keys uint64
		rate float64
		want string
	}{
		{10_000_000_000, 1e-9, "110259443424 <nil>"},
		{1e15, 0.01, "0 blocked: a filter of 1000000000000000 keys with a rate of 0.01 takes more than 256 GiB: use several"},
		{math.MaxUint64, 1e-9, "0 blocked: a filter of 18446744073709551615 keys with a rate of 1e-09 takes more than 256 GiB: use several"},
		{1, 0, "0 blocked: false-positive rate 0: must be 1e-9 to 0.5"},
		{1, math.NaN(), "0 blocked: false-positive rate NaN: must be 1e-9 to 0.5"},
	} {
		size, err := blocked.SizeFor(tt.keys, tt.rate)
		if got := fmt.Sprint(size, " ", err); got != tt.want {
			t.Errorf("SizeFor(%d, %g) = %s, want %s", tt.keys, tt.rate, got, tt.want)
		}
	}
}
