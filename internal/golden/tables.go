package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
)

// A Loaded is a golden table with the contents of its file and its pairs.
type Loaded struct {
	manifest.Table
	Contents []byte
	Want     []workload.Pair
}

// Each runs test as a subtest on every golden table in dir. First it compares the file and the dataset with their
// digests.
func Each(t *testing.T, dir string, test func(t *testing.T, l Loaded)) {
	t.Helper()
	tables, err := manifest.Read(dir)
	errtest.NoError(t, err)
	for _, g := range tables {
		t.Run(g.File, func(t *testing.T) {
			contents, err := os.ReadFile(filepath.Join(dir, g.File))
			errtest.NoError(t, err)
			want, err := workload.Dataset(g.Dataset)
			errtest.NoError(t, err)
			l := Loaded{g, contents, want}
			if got := manifest.SHA256(l.Contents); got != g.SHA256 {
				t.Fatalf("SHA-256 of the file is %s, want %s as in %s", got, g.SHA256, manifest.Name)
			}
			if got := workload.Digest(l.Want); got != g.PairsSHA256 || len(l.Want) != g.Pairs {
				t.Fatalf("dataset %s has %d pairs of digest %s, want %d of %s as in %s",
					g.Dataset, len(l.Want), got, g.Pairs, g.PairsSHA256, manifest.Name)
			}
			test(t, l)
		})
	}
}

// Small returns the contents of the golden tables in dir of up to maxSize bytes, as seeds for fuzzing.
func Small(f testing.TB, dir string, maxSize int) [][]byte {
	f.Helper()
	tables, err := manifest.Read(dir)
	errtest.NoError(f, err)
	var small [][]byte
	for _, g := range tables {
		contents, err := os.ReadFile(filepath.Join(dir, g.File))
		errtest.NoError(f, err)
		if len(contents) <= maxSize {
			small = append(small, contents)
		}
	}
	return small
}
