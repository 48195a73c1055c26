package command

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/set"
)

// tempFile writes a file in a temporary directory, and returns its path.
func tempFile(t *testing.T, name, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeFile(t, path, contents)
	return path
}

// A set with layers from sst build has the pairs of a map with the same changes.
func TestBuildLayers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 44))
	for range rounds(2, 30) {
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

// addRandomLayer adds a layer to a set, and makes the same changes to a map.
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

// Layers of filters report all keys that were added, and few others.
func TestBuildLayersOfFilters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 45))
	dir, present, option := filepath.Join(t.TempDir(), "set"), map[string]string{}, "-o"
	for range 4 {
		more := randomPairs(rng, 100)
		more["the last one"] = ""
		perTable, added := strconv.Itoa(1+rng.IntN(40)), tempFile(t, "added.tsv", linesOfPairs(more))
		mustSST(t, "build", "--filter-only", "--table-filter", "fuse:16", "--entries-per-table", perTable, option, dir, added)
		maps.Copy(present, more)
		option = "--layer-of"
	}
	wrong := 0
	_, out, _ := sst("get", "--keys-from", tempFile(t, "keys", numberedLines(layeredKeys, "%03d")), dir)
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

// If 0.1 % of the keys change in a day, at most 1 % of the set's bytes have to be sent and read.
func TestBytesOfADay(t *testing.T) {
	long.NoRace(t)
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
	before, all := filesOf(t, dir), 0
	for _, contents := range before {
		all += len(contents)
	}
	src := &countingSource{Dir: set.NewDir(dir)}
	defer src.Close()
	swap := opensOf(t, src)
	mustSST(t, "build", "--layer-of", dir, "--input-format", "raw-keys", "--delete", tempFile(t, "removed", removed.String()), tempFile(t, "added", added.String()))
	after := filesOf(t, dir)
	sent := len(after[set.ManifestName])
	for name, contents := range after {
		if _, old := before[name]; !old {
			sent += len(contents)
		}
	}
	opened := swap()
	t.Logf("%.3f %% to send, %.3f %% to open", 100*float64(sent)/float64(all), 100*float64(opened)/float64(all))
	if sent > all/100 || opened > int64(all/100) || len(after) != len(before)+2 {
		t.Errorf("%d bytes to send in %d files, and %d to open, want 3 files and ≤ 1 %% of %d", sent, len(after)-len(before)+1, opened, all)
	}
}

// opensOf opens a set with all tables. swap replaces it by the current set, and returns the number of bytes read.
func opensOf(t *testing.T, src *countingSource) (swap func() int64) {
	t.Helper()
	read := func() *set.Manifest {
		m, err := src.ReadManifest()
		noError(t, err)
		return m
	}
	s, err := set.Open(t.Context(), read(), src, &set.Options{OpenAll: true})
	noError(t, err)
	t.Cleanup(func() { s.Close() })
	return func() int64 {
		before := src.n.Load()
		noError(t, s.Swap(t.Context(), read()))
		return src.n.Load() - before
	}
}
