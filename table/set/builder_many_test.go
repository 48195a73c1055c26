package set_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// Builders of the same and of other pairs write to one directory at once, and some of them end
// early. At any time the manifest that is there, if any, has all its tables.
func TestManyBuildersInOneDirectory(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 12))
	parent := t.TempDir()
	for round := range rounds(15, 200) {
		dir := filepath.Join(parent, fmt.Sprint(round/3)) // three rounds in each directory
		var all sync.WaitGroup
		for range 2 + r.IntN(5) {
			n, value, complete := 1+r.IntN(3)*20, fmt.Sprint(r.IntN(2)), r.IntN(3) == 0
			all.Go(func() {
				if err := writeAndEnd(t, dir, n, value, complete); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		all.Wait()
		if _, err := os.Stat(filepath.Join(dir, set.ManifestName)); err == nil {
			listing(t, dir)
		}
	}
}

// writeAndEnd writes n keys of that value to dir, to a complete set or to one that ends early.
func writeAndEnd(t *testing.T, dir string, n int, value string, complete bool) error {
	b, err := set.NewBuilder(t.Context(), dirStore(dir), &set.BuilderOptions{EntriesPerTable: 10})
	if err != nil {
		return err
	}
	for i := range n {
		if err := b.Append(fmt.Appendf(nil, "%06d", i), []byte(value)); err != nil {
			return errors.Join(err, b.Abort())
		}
	}
	if complete {
		_, err = b.Commit()
	}
	return errors.Join(err, b.Abort())
}
