package set_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table/set"
)

// While sets are written, sweeps remove all tables that no manifest lists, however old they look. The manifest that is
// there has all its tables.
func TestSweepBesideBuilders(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(45, 1))
	dir := filepath.Join(t.TempDir(), "set")
	if err := writeAndEnd(t, dir, 1, "first", true); err != nil {
		t.Fatal(err)
	}
	for round := range rounds(15, 200) {
		var all sync.WaitGroup
		for range 1 + r.IntN(4) {
			n, value := 1+r.IntN(3)*20, fmt.Sprint(r.IntN(3))
			all.Go(func() {
				if err := writeAndEnd(t, dir, n, value, true); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		for range 4 {
			sweepOld(t, dir)
		}
		all.Wait()
		listing(t, dir)
	}
	sweepOld(t, dir)
	listed := map[string]bool{set.ManifestName: true}
	for m := range readManifest(t, dir).All() {
		listed[m.Name] = true
	}
	for _, name := range names(t, dir) {
		if !listed[name] {
			t.Errorf("%s is left", name)
		}
	}
}

// sweepOld makes all tables look old, and removes those that no manifest lists.
func sweepOld(t *testing.T, dir string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	if err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1e9, 0)
	for _, name := range tables {
		os.Chtimes(name, old, old) // fails if it is gone
	}
	if err := set.Sweep(t.Context(), dirStore(dir), &set.SweepOptions{Before: old.Add(time.Hour)}); err != nil {
		t.Error(err)
	}
}
