package setio_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table/set"
)

var (
	noError   = errtest.NoError
	list      = errtest.Names
	checkDiff = tabletest.Diff
)

// readSet returns the manifest in dir and its bytes.
func readSet(t testing.TB, dir string) (*set.Manifest, string) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, set.ManifestName))
	noError(t, err)
	m, err := set.ReadManifest(bytes.NewReader(file))
	noError(t, err)
	return m, string(file)
}

// scan verifies the set in dir. It returns its entries, each as "key=value", or "key" if the value is empty.
func scan(t testing.TB, dir string) []string {
	t.Helper()
	s, err := set.OpenDir(t.Context(), dir, nil)
	noError(t, err)
	defer s.Close()
	if err := s.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	it := s.NewIter(t.Context(), nil)
	defer it.Close()
	var entries []string
	for e, err := range it.All() {
		noError(t, err)
		entry := string(e.Key)
		if len(e.Value) > 0 {
			entry += "=" + string(e.Value)
		}
		entries = append(entries, entry)
	}
	return entries
}

// countEntries returns the number of entries in all tables, and in the largest one.
func countEntries(m *set.Manifest) (entries, largest uint64) {
	for _, t := range m.Tables {
		entries, largest = entries+t.Entries, max(largest, t.Entries)
	}
	return entries, largest
}

// namesOf returns the names of the manifest's tables and the manifest, as list does.
func namesOf(m *set.Manifest) []string {
	names := []string{set.ManifestName}
	for _, t := range m.Tables {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}
