package day

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// key returns key number i.
func key(i int) string { return fmt.Sprintf("https://example.com/%07d", i) }

// A version is a state of the list.
type version struct {
	present []bool      // by number of the key
	tables  []set.Table // of all layers
}

// tablesOf returns the SHA-256 of the tables that a lookup of key may read.
func (v *version) tablesOf(key string) (sums []string) {
	for _, t := range v.tables {
		if bytes.Compare(t.Smallest, []byte(key)) <= 0 && bytes.Compare([]byte(key), t.Largest) <= 0 {
			sums = append(sums, t.SHA256)
		}
	}
	return sums
}

// A model determines the answers that the service may give.
type model struct {
	mu       sync.Mutex
	versions []*version
	low      int // the oldest version that the service may use
}

// inUse returns the number of the oldest version that the service may use now.
func (m *model) inUse() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.low
}

// since returns the versions that the service may have used since low was the oldest one.
func (m *model) since(low int) []*version {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.versions[low:]
}

// newest returns the last version.
func (m *model) newest() *version {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.versions[len(m.versions)-1]
}

// add adds a version that is about to be uploaded, with the manifest in a directory.
func (m *model) add(t *testing.T, present []bool, dir string) *version {
	t.Helper()
	v := &version{present, tablesIn(t, dir)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.versions = append(m.versions, v)
	return v
}

// swapped records that the service uses the newest version.
func (m *model) swapped() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.low = len(m.versions) - 1
}

// tablesIn returns the tables of the set in a directory.
func tablesIn(t *testing.T, path string) (tables []set.Table) {
	t.Helper()
	dir := set.NewDir(path)
	defer dir.Close()
	m, err := dir.ReadManifest()
	noError(t, err)
	for table := range m.All() {
		tables = append(tables, *table)
	}
	return tables
}

// writeBase writes the keys of a first list, two thirds of all keys, to a file.
func writeBase(t *testing.T, rng *rand.Rand, n int, file string) []bool {
	present := make([]bool, n)
	var lines strings.Builder
	for i := range present {
		if present[i] = rng.IntN(3) > 0; present[i] {
			fmt.Fprintln(&lines, key(i))
		}
	}
	noError(t, os.WriteFile(file, []byte(lines.String()), 0o666))
	return present
}

// writeChanges writes random keys to add and keys to remove to files, and returns the resulting list. Some added
// keys are already present, and some removed keys are absent.
func writeChanges(t *testing.T, rng *rand.Rand, present []bool, added, removed string) []bool {
	present = slices.Clone(present)
	part := len(present) / 5
	first := rng.IntN(len(present) - part)
	var lines [2]strings.Builder
	for i := first; i < first+part; i++ {
		if rng.IntN(10) == 0 {
			present[i] = rng.IntN(2) == 0
			to := &lines[0]
			if !present[i] {
				to = &lines[1]
			}
			fmt.Fprintln(to, key(i))
		}
	}
	noError(t, os.WriteFile(added, []byte(lines[0].String()), 0o666))
	noError(t, os.WriteFile(removed, []byte(lines[1].String()), 0o666))
	return present
}
