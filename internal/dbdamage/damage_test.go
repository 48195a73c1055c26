package dbdamage

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

// A killed engine may leave empty files.
func TestRandomOfEmptyFiles(t *testing.T) {
	for seed := range uint64(50) {
		dir := t.TempDir()
		for _, name := range []string{"000001.ldb", "000002.log", "MANIFEST-000003", "CURRENT"} {
			errtest.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
		}
		if d, changed, err := Random(rand.New(rand.NewPCG(seed, 0)), dir); changed || err != nil {
			t.Errorf("seed %d: Random(empty files) = %v, %v, %v; want no change", seed, d, changed, err)
		}
	}
}
