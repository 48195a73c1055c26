package command

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
)

// writePairs writes pairs of about total bytes, whose values have the lengths that size returns for how
// far the file is, from 0 to 1.
func writePairs(t *testing.T, path string, total int, key func(i int) string, size func(far float64) int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	value := incompressible(1 << 20)
	for i, n := 0, 0; n < total; i++ {
		written, err := fmt.Fprintf(out, "%s\t%s\n", key(i), value[:size(float64(n)/float64(total))])
		if err != nil {
			t.Fatal(err)
		}
		n += written
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}

// Sorting takes no more than --memory and 64 MiB, whatever sizes the pairs have, and wherever in the
// input these change.
func TestMemoryOfSorting(t *testing.T) {
	long.Test(t)
	if long.Race {
		t.Skip("the race detector takes memory too")
	}
	rng := rand.New(rand.NewPCG(8, 8))
	random := func(int) string { return fmt.Sprintf("%016x", rng.Uint64()) }
	equal := func(int) string { return "key" }
	for name, tt := range map[string]struct {
		key  func(i int) string
		size func(far float64) int
	}{
		"no values":               {random, func(float64) int { return 0 }},
		"values of all sizes":     {random, func(float64) int { return rng.IntN(1 << rng.IntN(20)) }},
		"values of 0 and of 1 MB": {random, func(float64) int { return rng.IntN(1000) / 999 << 20 }},
		"small, then large":       {random, func(far float64) int { return int(far*2) * 1000 }},
		"large, then small":       {random, func(far float64) int { return 1000 - int(far*2)*1000 }},
		"equal keys":              {equal, func(float64) int { return rng.IntN(100) }},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pairs")
			writePairs(t, path, 100<<20, tt.key, tt.size)
			for _, limit := range []int64{32 << 20, 256 << 20} {
				args := []string{"build", "--on-duplicate", "last", "--input-format", "raw", "-o", path + ".ldb", "--memory", fmt.Sprint(limit), path}
				checkPeak(t, limit, args, "")
			}
		})
	}
}
