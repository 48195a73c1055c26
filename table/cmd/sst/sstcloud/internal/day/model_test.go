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

// key returns the key of number i.
func key(i int) string { return fmt.Sprintf("https://example.com/%07d", i) }

// A version is what a list has at one time.
type version struct {
	present []bool      // by the numbers of the keys
	tables  []set.Table // of all layers
}

// tablesOf returns the SHA-256 of the tables that a lookup of a key may read.
func (v *version) tablesOf(key string) (sums []string) {
	for _, t := range v.tables {
		if bytes.Compare(t.Smallest, []byte(key)) <= 0 && bytes.Compare([]byte(key), t.Largest) <= 0 {
			sums = append(sums, t.SHA256)
		}
	}
	return sums
}

// A model knows what the service may answer.
type model struct {
	mu       sync.Mutex
	versions []*version
	low      int // the oldest version that the service may have
}

// inUse returns the oldest version that the service may have now.
func (m *model) inUse() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.low
}

// since returns the versions that the service may have had since low was the oldest one.
func (m *model) since(low int) []*version {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.versions[low:]
}

// newest returns the version that was added last.
func (m *model) newest() *version {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.versions[len(m.versions)-1]
}

// add adds a version that is about to be put, with the manifest of a directory.
func (m *model) add(t *testing.T, present []bool, dir string) *version {
	t.Helper()
	v := &version{present, tablesIn(t, dir)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.versions = append(m.versions, v)
	return v
}

// swapped notes that the service has the newest version.
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

// writeBase writes the keys of a first list to a file: two of three.
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

// writeChanges writes keys to be added and to be removed to files, of a part of all keys, and returns what is
// present after that. Some are added that are there already, and some removed that are not.
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
