package blocked_test

import (
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/filtertest"
)

func TestDeniesNoKeyWhileOthersAdd(t *testing.T) {
	t.Parallel()
	filtertest.CheckDeniesNoKey(t, rand.New(rand.NewPCG(82, 1)), onePercent(t), blocked.Open)
}

func TestAddIfAbsentTellsOneAtLeast(t *testing.T) {
	t.Parallel()
	filtertest.CheckAddIfAbsent(t, onePercent(t))
}

// onePercent returns a function that creates filters with a rate of 1 %.
func onePercent(t *testing.T) func(n uint64) *blocked.Filter {
	return func(n uint64) *blocked.Filter { return newFilter(t, n, 0.01) }
}

// The checksum matches the written bytes, even while others add keys.
func TestWriteToIsSoundWhileOthersAdd(t *testing.T) {
	t.Parallel()
	f := newFilter(t, 200_000, 0.01)
	var done atomic.Bool
	filtertest.AtOnce(3, func(g int) {
		if g > 0 {
			for h := uint64(g); !done.Load(); h += 0x9e3779b97f4a7c15 {
				f.AddHash(h)
			}
			return
		}
		defer done.Store(true)
		for range 20 {
			r, w := io.Pipe()
			go func() {
				_, err := f.WriteTo(w)
				w.CloseWithError(err)
			}()
			if _, err := blocked.Read(r); err != nil {
				t.Error(err)
			}
		}
	})
}
