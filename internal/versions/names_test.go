package versions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// CURRENT must name an existing MANIFEST. Without CURRENT there is no database.
func TestReadWithoutManifest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read of no database = %v, want fs.ErrNotExist", err)
	}
	path := filepath.Join(dir, "CURRENT")
	for current, want := range map[string]string{
		"":                     `is empty`,
		"\n":                   `names "", which is not a MANIFEST`,
		"\x00\x00":             `is zeros`,
		"MANIFEST-\n":          `names "MANIFEST-", which is not a MANIFEST`,
		"../MANIFEST-000001\n": `names "../MANIFEST-000001", which is not a MANIFEST`,
		"MANIFEST-000001":      "names MANIFEST-000001, which does not exist",
	} {
		noError(t, os.WriteFile(path, []byte(current), 0o666))
		if v, err := Read(dir); fmt.Sprint(err) != path+" "+want || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("CURRENT %q: %v, %v; want an error: %s", current, v, err, want)
		}
	}
}

// A directory with a CURRENT or a MANIFEST contains a database, whatever else it contains.
func TestFindCurrentOrManifest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files []string
		want  string
	}{
		{"nothing", nil, ""},
		{"other files", []string{"000005.ldb", "000006.log", "LOCK", "MANIFEST", "MANIFEST-", "MANIFEST-5x", "MANIFEST-000005.old", "current"}, ""},
		{"CURRENT only", []string{"000005.ldb", "CURRENT"}, "CURRENT"},
		{"a MANIFEST only", []string{"000005.ldb", "MANIFEST-000004"}, "MANIFEST-000004"},
		{"both", []string{"MANIFEST-000004", "CURRENT"}, "CURRENT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range tt.files {
				noError(t, os.WriteFile(filepath.Join(dir, file), nil, 0o666))
			}
			if got, err := FindCurrentOrManifest(dir); got != tt.want || err != nil {
				t.Errorf("FindCurrentOrManifest = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
	if got, err := FindCurrentOrManifest(filepath.Join(t.TempDir(), "none")); got != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("FindCurrentOrManifest of no directory = %q, %v; want ErrNotExist", got, err)
	}
}

// From file number 1,000,000 on, the name of a MANIFEST has more digits.
func TestCompareManifests(t *testing.T) {
	t.Parallel()
	want := []string{"MANIFEST-000000", "MANIFEST-000009", "MANIFEST-0000010", "MANIFEST-999999", "MANIFEST-1000000", "MANIFEST-0001000001", "MANIFEST-18446744073709551616"}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.SortFunc(got, CompareManifests)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
