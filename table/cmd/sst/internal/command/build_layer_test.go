package command

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/set"
)

// tempFile writes a file of a temporary directory, and returns its path.
func tempFile(t *testing.T, name, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeFile(t, path, contents)
	return path
}

// Layers that builds have added show what a map shows that takes the same changes.
func TestBuildLayers(t *testing.T) {
	rounds := 2
	if long.Enabled() {
		rounds = 30
	}
	rng := rand.New(rand.NewPCG(1, 44))
	for range rounds {
		dir, want := filepath.Join(t.TempDir(), "set"), randomPairs(rng, 2*layeredKeys)
		mustSST(t, "build", "-o", dir, "--entries-per-table", strconv.Itoa(1+rng.IntN(40)), tempFile(t, "base.tsv", linesOfPairs(want)))
		for range 1 + rng.IntN(5) {
			addRandomLayer(t, rng, dir, want)
			checkPrints(t, linesOfPairs(want), "scan", dir)
		}
		mustSST(t, "verify", "-q", dir)
		checkMerged(t, rng, []string{dir}, nil, want)
	}
}

// addRandomLayer adds a layer to a set, and does the same to a map.
func addRandomLayer(t *testing.T, rng *rand.Rand, dir string, pairs map[string]string) {
	t.Helper()
	added, removed := randomPairs(rng, 100), randomPairs(rng, 50)
	added["new"] = "so that there is one"
	maps.DeleteFunc(removed, func(key, _ string) bool { _, both := added[key]; return both })
	args := slices.Concat([]string{"build", "--layer-of", dir, "--entries-per-table", strconv.Itoa(1 + rng.IntN(40))}, randomOptions(rng))
	switch rng.IntN(4) {
	case 0:
		added = nil
	case 1:
		removed = nil
	}
	if added != nil {
		args = append(args, tempFile(t, "added.tsv", linesOfPairs(added)))
	}
	if removed != nil || added == nil {
		removed["removed"] = "" // which the set does not have
		lines := linesOfPairs(removed)
		if rng.IntN(2) == 0 {
			lines = strings.Join(slices.Collect(maps.Keys(removed)), "\n")
		}
		args = append(args, "--delete", tempFile(t, "removed.tsv", lines))
	}
	mustSST(t, args...)
	maps.DeleteFunc(pairs, func(key, _ string) bool { _, is := removed[key]; return is })
	maps.Copy(pairs, added)
}

// Layers of filters have no key less than what was added, and few more.
func TestBuildLayersOfFilters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 45))
	dir, present, last := filepath.Join(t.TempDir(), "set"), map[string]string{}, []string{"-o", ""}
	last[1] = dir
	for range 4 {
		more := randomPairs(rng, 100)
		more["the last one"] = ""
		args := slices.Concat([]string{"build", "--filter-only", "--table-filter", "fuse:16", "--entries-per-table", strconv.Itoa(1 + rng.IntN(40))}, last)
		mustSST(t, append(args, tempFile(t, "added.tsv", linesOfPairs(more)))...)
		maps.Copy(present, more)
		last[0] = "--layer-of"
	}
	var keys strings.Builder
	for n := range layeredKeys {
		fmt.Fprintln(&keys, layeredKey(n))
	}
	wrong := 0
	_, out, _ := sst("get", "--keys-from", tempFile(t, "keys", keys.String()), dir)
	for line := range strings.Lines(out) {
		key, answer, _ := strings.Cut(strings.TrimSpace(line), "\t")
		_, has := present[key]
		if has && answer != "may be present" {
			t.Errorf("%s is %q, want it present", key, answer)
		}
		if !has && answer != "absent" {
			wrong++
		}
	}
	if n := strings.Count(out, "\n"); n != layeredKeys || wrong > 1 {
		t.Errorf("%d answers, of which %d are wrong, want %d and at most 1", n, wrong, layeredKeys)
	}
}

// A countingSource counts the bytes that a Set reads.
type countingSource struct {
	*set.Dir
	n atomic.Int64
}

func (s *countingSource) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	n, err := s.Dir.ReadAt(ctx, name, p, off)
	s.n.Add(int64(n))
	return n, err
}

// sizesOf returns the sizes of the files of a directory.
func sizesOf(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		sizes[f.Name()] = info.Size()
	}
	return sizes
}

// A day on which 0.1 % of the keys change takes at most 1 % of the set's bytes to send and to open.
func TestBytesOfADay(t *testing.T) {
	const keys = 100_000
	var lines, added, removed strings.Builder
	for n := range keys + keys/2000 {
		key := fmt.Sprintf("https://example.com/%06d/page?id=%d\n", n*7919%1000003, n)
		switch {
		case n >= keys:
			added.WriteString(key)
		case n%2000 == 0:
			removed.WriteString(key)
			fallthrough
		default:
			lines.WriteString(key)
		}
	}
	dir := filepath.Join(t.TempDir(), "set")
	mustSST(t, "build", "-o", dir+"/", "--input-format", "raw-keys", "--entries-per-table", "20_000", tempFile(t, "base", lines.String()))
	before, all := sizesOf(t, dir), int64(0)
	for _, size := range before {
		all += size
	}
	src := &countingSource{Dir: set.NewDir(dir)}
	defer src.Close()
	swap := opensOf(t, src)
	mustSST(t, "build", "--layer-of", dir, "--input-format", "raw-keys", "--delete", tempFile(t, "removed", removed.String()), tempFile(t, "added", added.String()))
	after := sizesOf(t, dir)
	sent := after[set.ManifestName]
	for name, size := range after {
		if _, old := before[name]; !old {
			sent += size
		}
	}
	opened := swap()
	t.Logf("%.3f %% to send, %.3f %% to open", 100*float64(sent)/float64(all), 100*float64(opened)/float64(all))
	if sent > all/100 || opened > all/100 || len(after) != len(before)+2 {
		t.Errorf("%d bytes to send in %d files, and %d to open, want 3 files and ≤ 1 %% of %d", sent, len(after)-len(before)+1, opened, all)
	}
}

// opensOf opens a set with all tables. The function that it returns swaps it for the set that is there
// then, and returns how many bytes that read.
func opensOf(t *testing.T, src *countingSource) (swap func() int64) {
	t.Helper()
	read := func() *set.Manifest {
		m, err := src.ReadManifest()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	s, err := set.Open(t.Context(), read(), src, &set.Options{OpenAll: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return func() int64 {
		before := src.n.Load()
		if err := s.Swap(t.Context(), read()); err != nil {
			t.Fatal(err)
		}
		return src.n.Load() - before
	}
}
