package command

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// With --on-duplicate count, each key has the number of its lines: of lines in any order and in
// order, also of keys that are too long to be sorted in memory, in tables and in sets.
func TestCountIsThatOfAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	for round := range 6 {
		lines, counts := repeatedLines(rng, 1+rng.IntN(3000), 1+rng.IntN(300))
		var want bytes.Buffer
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&want, "%s\t%d\n", key, counts[key])
		}
		sorted := slices.Sorted(slices.Values(lines))
		for name, input := range map[string][]string{"": lines, "--sorted": sorted} {
			for _, out := range []string{"table.ldb", "set/"} {
				dir := t.TempDir()
				path := filepath.Join(dir, "lines")
				writeFile(t, path, strings.Join(input, "\n")+"\n")
				args := []string{"build", "--input-format", "raw-keys", "--on-duplicate", "count", "-o", filepath.Join(dir, "out") + "/", path}
				if out == "table.ldb" {
					args[6] = filepath.Join(dir, out)
				} else {
					args = append(args, "--entries-per-table", strconv.Itoa(1+rng.IntN(100)))
				}
				if name != "" {
					args = append(args, name)
				}
				mustSST(t, args...)
				if got := mustSST(t, "scan", args[6]); got != want.String() {
					t.Errorf("round %d, %s %s: got\n%.500s\nwant\n%.500s", round, out, name, got, want.String())
				}
			}
		}
	}
}

// repeatedLines returns n lines of at most so many distinct keys, and how often each key comes.
func repeatedLines(rng *rand.Rand, n, distinct int) (lines []string, counts map[string]int) {
	counts = map[string]int{}
	for range n {
		i := rng.IntN(distinct)
		key := fmt.Sprintf("key%d", i)
		if i%7 == 0 {
			key += strings.Repeat("long", 500)
		}
		lines = append(lines, key)
		counts[key]++
	}
	return lines, counts
}
