package command

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A layeredSet is a set with layers, and the entries of its tables.
type layeredSet struct {
	dir      string
	m        set.Manifest
	options  table.WriterOptions
	perTable int                       // entries
	versions map[string][]layerVersion // of each key, the newest first
}

// A layerVersion is a key's entry in one table.
type layerVersion struct {
	file, value string
	removed     bool
}

// layeredKeys is the number of keys that a layeredSet can have.
const layeredKeys = 120

func layeredKey(n int) string { return fmt.Sprintf("%03d", n) }

// randomPairs returns pairs of at most that many keys.
func randomPairs(rng *rand.Rand, most int) map[string]string {
	pairs := map[string]string{}
	for range rng.IntN(most + 1) {
		pairs[layeredKey(rng.IntN(layeredKeys))] = fmt.Sprintf("%0*d", 1+rng.IntN(30), rng.IntN(1e6))
	}
	return pairs
}

// newLayeredSet writes a set with that many layers.
func newLayeredSet(t *testing.T, rng *rand.Rand, layers int) *layeredSet {
	t.Helper()
	s := &layeredSet{dir: t.TempDir(), perTable: 1 + rng.IntN(20), versions: map[string][]layerVersion{}}
	s.options = table.WriterOptions{BlockSize: 1 + rng.IntN(300), RestartInterval: 1 + rng.IntN(5)}
	if rng.IntN(2) == 0 {
		s.options.FilterPolicy = filter.NewBloom(10)
	}
	if rng.IntN(2) == 0 {
		s.options.TableFilterPolicy = filter.NewTableBloom(10)
	}
	return s.fill(t, rng, layers)
}

// fill writes a set with that many layers.
func (s *layeredSet) fill(t *testing.T, rng *rand.Rand, layers int) *layeredSet {
	t.Helper()
	s.m.Tables = s.write(t, randomPairs(rng, 2*layeredKeys), false)
	for range layers {
		l := set.Layer{Removals: s.write(t, randomPairs(rng, layeredKeys/4), true)}
		l.Tables = s.write(t, randomPairs(rng, layeredKeys/2), false)
		s.m.Layers = append(s.m.Layers, l)
	}
	s.writeManifest(t)
	return s
}

func (s *layeredSet) writeManifest(t *testing.T) {
	t.Helper()
	d := set.NewDir(s.dir)
	defer d.Close()
	noError(t, d.WriteManifest(&s.m))
}

// write writes pairs to tables, which are newer than all tables before.
func (s *layeredSet) write(t *testing.T, pairs map[string]string, removed bool) (lines []set.Table) {
	t.Helper()
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(pairs)), s.perTable) {
		var b bytes.Buffer
		w, err := set.NewTableWriter(&b, &s.options)
		noError(t, err)
		name := fmt.Sprintf("%06d.ldb", len(s.files()))
		for _, key := range keys {
			noError(t, w.Append([]byte(key), []byte(pairs[key])))
			v := layerVersion{file: name, value: pairs[key], removed: removed}
			s.versions[key] = append([]layerVersion{v}, s.versions[key]...)
		}
		line, err := w.Close()
		noError(t, err)
		line.Name = name
		writeFile(t, filepath.Join(s.dir, name), b.Bytes())
		lines = append(lines, line)
	}
	return lines
}

// files returns the names of the tables that were written.
func (s *layeredSet) files() []string {
	names, _ := filepath.Glob(filepath.Join(s.dir, "*.ldb"))
	return names
}

// live returns the pairs that the set shows.
func (s *layeredSet) live() map[string]string {
	live := map[string]string{}
	for key, all := range s.versions {
		if !all[0].removed {
			live[key] = all[0].value
		}
	}
	return live
}

// linesOfPairs returns pairs as sst scan prints them.
func linesOfPairs(pairs map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		fmt.Fprintf(&b, "%s\t%s\n", key, pairs[key])
	}
	return b.String()
}

// pairsOfLines returns the pairs that sst scan has printed.
func pairsOfLines(lines string) map[string]string {
	pairs := map[string]string{}
	for line := range strings.Lines(lines) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		pairs[key] = value
	}
	return pairs
}

// whereLines returns what sst scan --where prints, without offsets.
func (s *layeredSet) whereLines() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s.versions)) {
		for i, v := range s.versions[key] {
			state, value := "live", v.value
			if v.removed {
				state, value = "deletion", ""
			}
			if i > 0 {
				state = "shadowed"
			}
			fmt.Fprintf(&b, "%s\t%s\t%s\t-\t%s\n", key, value, v.file, state)
		}
	}
	return b.String()
}
