package set_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table/set"
)

// Builders of the same and of other pairs write to one directory at once, and some of them end early. Meanwhile sweeps
// remove all tables that no manifest lists, however old they look. At any time the manifest that is there, if any,
// has all its tables.
func TestSweepBesideBuilders(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(45, 1))
	parent := t.TempDir()
	for round := range rounds(24, 300) {
		dir := filepath.Join(parent, fmt.Sprint(round/6)) // six rounds in each directory
		var all sync.WaitGroup
		for range 1 + r.IntN(5) {
			n, value, commits := 1+r.IntN(3)*20, fmt.Sprint(r.IntN(3)), r.IntN(4) > 0
			all.Go(func() {
				o := set.BuilderOptions{EntriesPerTable: 10}
				if err := buildIn(t.Context(), dirStore(dir), o, n, 0, value, commits); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		meanwhile(1, func(*rand.Rand) { sweepOld(t, dir) }, all.Wait)
		if _, err := os.Stat(filepath.Join(dir, set.ManifestName)); err != nil {
			continue
		}
		listing(t, dir)
		sweepOld(t, dir)
		if files, m := listing(t, dir), readManifest(t, dir); len(files) != 1+len(m.Tables) {
			t.Errorf("round %d: %q are left of a set of %d tables", round, files, len(m.Tables))
		}
	}
}

// sweepOld makes all tables look old, and removes those that no manifest lists.
func sweepOld(t *testing.T, dir string) {
	t.Helper()
	tables, _ := filepath.Glob(filepath.Join(dir, "*.ldb"))
	old := time.Unix(1e9, 0)
	for _, name := range tables {
		os.Chtimes(name, old, old) // fails if it is gone
	}
	err := set.Sweep(t.Context(), dirStore(dir), &set.SweepOptions{Before: old.Add(time.Hour)})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the directory
		t.Error(err)
	}
}
