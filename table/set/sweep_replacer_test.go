package set_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// Without a lock, Builders and Sweeps of all ages run at once. If the manifest then lists a table that is gone, one of
// them has said so.
func TestSweepBesideBuildersWithoutLock(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(12, 27))
	for round := range rounds(30, 1000) {
		s := replacingStore{newMemoryStore()}
		noError(t, buildSmall(t, s, set.BuilderOptions{}, 5, "0"))
		var all sync.WaitGroup
		var said atomic.Bool
		for range 2 + r.IntN(3) {
			n, value := 1+r.IntN(9), fmt.Sprint(r.IntN(2))
			all.Go(func() {
				err := buildSmall(t, s, set.BuilderOptions{}, n, value)
				if errors.Is(err, set.ErrGone) {
					said.Store(true)
				} else if err != nil && !errors.Is(err, set.ErrChanged) {
					t.Errorf("Commit: %v", err)
				}
			})
		}
		for range 3 {
			all.Go(func() {
				err := set.Sweep(t.Context(), s, &set.SweepOptions{})
				if errors.Is(err, set.ErrGone) {
					said.Store(true)
				} else if err != nil && !errors.Is(err, set.ErrBuilding) {
					t.Errorf("Sweep: %v", err)
				}
			})
		}
		all.Wait()
		m, err := set.ReadManifest(bytes.NewReader(s.files[set.ManifestName].content))
		noError(t, err)
		for table := range m.All() {
			if _, ok := s.files[table.Name]; !ok && !said.Load() {
				t.Fatalf("round %d: %s is listed and gone, and nobody says so", round, table.Name)
			}
		}
	}
}
