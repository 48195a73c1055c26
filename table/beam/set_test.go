package setio_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// readSet returns the manifest in dir and its bytes.
func readSet(t testing.TB, dir string) (*set.Manifest, string) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, set.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	m, err := set.ReadManifest(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return m, string(file)
}

// scan returns the keys of the tables, in the order of the manifest. It checks each table and
// compares it with its line in the manifest.
func scan(t testing.TB, dir string, m *set.Manifest) []string {
	t.Helper()
	var keys []string
	for _, want := range m.Tables {
		file, err := os.ReadFile(filepath.Join(dir, want.Name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := set.Describe(bytes.NewReader(file), int64(len(file)), nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Name = want.Name
		if diff := cmp.Diff(want, got, cmp.Comparer(bytes.Equal)); diff != "" {
			t.Errorf("table and its line in the manifest (-line +table):\n%s", diff)
		}
		keys = append(keys, scanTable(t, file)...)
	}
	return keys
}

// scanTable verifies a table and returns its keys.
func scanTable(t testing.TB, file []byte) []string {
	t.Helper()
	r, err := table.NewReader(bytes.NewReader(file), int64(len(file)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	it := r.NewIter(nil)
	var keys []string
	for key, value := range it.All() {
		if len(value) > 0 {
			t.Fatalf("key %q has the value %q, want none", key, value)
		}
		keys = append(keys, string(key))
	}
	if err := it.Error(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// list returns the names of all files in dir.
func list(t testing.TB, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
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
