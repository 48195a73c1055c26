package golden

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
)

// ManifestName is the file beside the golden tables that describes them.
const ManifestName = "MANIFEST"

// NoFilter is the BitsPerKey of a Table without filter block.
const NoFilter = -1

// A Table is one golden table: which engine wrote it, how, and what it holds.
type Table struct {
	File            string `json:"file"` // below testdata
	Producer        string `json:"producer"`
	Version         string `json:"version"`
	BlockSize       int    `json:"block_size"`
	RestartInterval int    `json:"restart_interval"`
	BitsPerKey      int    `json:"bits_per_key"` // NoFilter: none
	Compression     string `json:"compression"`  // none or snappy
	Dataset         string `json:"dataset"`      // of package workload
	Pairs           int    `json:"pairs"`
	PairsSHA256     string `json:"pairs_sha256"` // workload.Digest
	SHA256          string `json:"sha256"`       // of the file
}

// SHA256 is what a Table's SHA256 field holds for contents.
func SHA256(contents []byte) string {
	sum := sha256.Sum256(contents)
	return hex.EncodeToString(sum[:])
}

// WriteManifest writes the manifest in dir, one table a line.
func WriteManifest(dir string, tables []Table) error {
	out := []byte("[\n")
	for i, t := range tables {
		line, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("golden: %w", err)
		}
		if i > 0 {
			out = append(out, ",\n"...)
		}
		out = append(out, line...)
	}
	return os.WriteFile(filepath.Join(dir, ManifestName), append(out, "\n]\n"...), 0o666)
}

// ReadManifest reads the manifest in dir.
func ReadManifest(dir string) ([]Table, error) {
	contents, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	var tables []Table
	if err := json.Unmarshal(contents, &tables); err != nil {
		return nil, fmt.Errorf("golden: %s: %w", ManifestName, err)
	}
	return tables, nil
}

// A Loaded is a golden table with its bytes and its pairs.
type Loaded struct {
	Table
	Contents []byte
	Want     []workload.Pair
}

// Each runs test as a subtest on every golden table in dir, after it has held
// the file and the dataset to their digests.
func Each(t *testing.T, dir string, test func(t *testing.T, l Loaded)) {
	t.Helper()
	tables, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range tables {
		t.Run(g.File, func(t *testing.T) {
			l := Loaded{Table: g}
			var err error
			if l.Contents, err = os.ReadFile(filepath.Join(dir, g.File)); err != nil {
				t.Fatal(err)
			}
			if l.Want, err = workload.Dataset(g.Dataset); err != nil {
				t.Fatal(err)
			}
			if got := SHA256(l.Contents); got != g.SHA256 {
				t.Fatalf("SHA-256 of the file is %s, want %s as in %s", got, g.SHA256, ManifestName)
			}
			if got := workload.Digest(l.Want); got != g.PairsSHA256 || len(l.Want) != g.Pairs {
				t.Fatalf("dataset %s has %d pairs of digest %s, want %d of %s as in %s",
					g.Dataset, len(l.Want), got, g.Pairs, g.PairsSHA256, ManifestName)
			}
			test(t, l)
		})
	}
}
