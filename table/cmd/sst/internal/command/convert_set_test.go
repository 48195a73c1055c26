package command

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/set"
)

// newSieveSet writes a set with layers, whose filters have many false positives.
func newSieveSet(t *testing.T, rng *rand.Rand) *layeredSet {
	t.Helper()
	fuse4, err := fuse.New(4)
	noError(t, err)
	s := &layeredSet{dir: t.TempDir(), perTable: 10 + rng.IntN(50), versions: map[string][]layerVersion{}}
	s.options = table.WriterOptions{TableFilterPolicy: pick[filter.TablePolicy](rng, filter.NewTableBloom(1), filter.NewTableBloom(4), fuse4)}
	if rng.IntN(3) == 0 {
		s.options.FilterPolicy = filter.NewBloom(1)
	}
	return s.fill(t, rng, rng.IntN(3))
}

// After convert --never, no table of a set reports a listed key that it does not contain. Only tables that did are
// rewritten, and the set has the same pairs. If a listed key is in the set, convert fails and changes nothing.
func TestConvertSetNever(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	refused, changed, unchanged := 0, 0, 0
	for seed, rng := range seeds(80, 31) {
		s := newSieveSet(t, rng)
		live := s.live()
		var list []string
		for range 1 + rng.IntN(200) {
			key := layeredKey(rng.IntN(layeredKeys)) + pick(rng, "", "x", "yy")
			if _, isLive := live[key]; !isLive || rng.IntN(200) == 0 {
				list = append(list, key)
			}
		}
		manifest := filepath.Join(s.dir, set.ManifestName)
		before, _ := os.ReadFile(manifest)
		scanned := mustSST(t, "scan", s.dir)
		status, _, stderr := sst("convert", s.dir, "--never", tempFile(t, "list.txt", strings.Join(list, "\n")))
		after := readFile(t, manifest)
		if i := slices.IndexFunc(list, func(key string) bool { _, isLive := live[key]; return isLive }); i >= 0 {
			if refused++; status != cli.ExitUsage || !strings.Contains(stderr, " is in the table: ") || !bytes.Equal(before, after) {
				t.Errorf("seed %d: status %d, %s, and the manifest is the same: %v; want an error, for example for %s", seed, status, stderr, bytes.Equal(before, after), list[i])
			}
			continue
		}
		if status != cli.ExitOK {
			t.Fatalf("seed %d: status %d, %s", seed, status, stderr)
		}
		mustSST(t, "verify", s.dir)
		checkPrints(t, scanned, "scan", s.dir)
		m, err := set.ReadManifest(bytes.NewReader(after))
		noError(t, err)
		olds := slices.Collect(s.m.All())
		for i, line := range slices.Collect(m.All()) {
			if checkExcepted(t, s, olds[i], line, list) {
				changed++
			} else {
				unchanged++
			}
		}
	}
	if refused < 5 || changed < 100 || unchanged < 20 {
		t.Errorf("%d sets refused, %d tables changed, %d not: want many of each", refused, changed, unchanged)
	}
}

// checkExcepted checks a table of the set, and reports whether it is new.
func checkExcepted(t *testing.T, s *layeredSet, old, line *set.Table, list []string) (isNew bool) {
	t.Helper()
	open := func(name string) *table.Reader {
		r, err := table.Open(filepath.Join(s.dir, name), &table.ReaderOptions{TableFilterPolicies: tablefilter.Policies()})
		noError(t, err)
		t.Cleanup(func() { r.Close() })
		return r
	}
	before, r := open(old.Name), open(line.Name)
	erred, bits := false, old.FilterBits
	for _, key := range list {
		if key < string(line.Smallest) || key > string(line.Largest) {
			continue
		}
		bits = 0 // or Readers could narrow the filter
		_, err := r.Get([]byte(key))
		erred = erred || err == table.ErrNotFound && filetest.MayContain(before, []byte(key))
		if has := err == nil; filetest.MayContain(r, []byte(key)) != has {
			t.Errorf("%s: MayContain(%s) = %v, want %v", line.Name, key, !has, has)
		}
	}
	if isNew = old.Name != line.Name; isNew != erred {
		t.Errorf("%s is now %s; its filters erred: %v", old.Name, line.Name, erred)
	}
	contents := readFile(t, filepath.Join(s.dir, line.Name))
	described, err := set.Describe(bytes.NewReader(contents), line.Size, &table.ReaderOptions{TableFilterPolicies: tablefilter.Policies()})
	described.Name, described.FilterBits = line.Name, bits
	if diff := cmp.Diff(&described, line); err != nil || diff != "" {
		t.Errorf("%v, line in the manifest (-want +got):\n%s", err, diff)
	}
	return isNew
}
