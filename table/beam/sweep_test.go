package setio_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// Sweep removes only what builds have written, and only if no manifest names it.
func TestSweepKeepsWhatManifestsName(t *testing.T) {
	dir := t.TempDir()
	sum := strings.Repeat("0a", 32)
	for _, name := range []string{"000001-" + sum + ".ldb", "000001-" + sum + ".filter", "10000000-" + sum + ".ldb", "sievetable-0123456789abcdef.tmp"} {
		writeEmpty(t, dir, name)
	}
	listed, kept := set.Table{Name: "000002-" + sum + ".ldb", Size: 100, SHA256: sum, Entries: 1, TailSize: 100}, "000003-"+sum+".ldb"
	others := []string{
		listed.Name, kept, "000001.ldb", "x000001-" + sum + ".ldb",
		"000001-" + sum + ".ldb.bak", "sievetable-notes.tmp", "00001-" + sum + ".ldb", "000001-" + sum[1:] + ".ldb",
	}
	for _, name := range others {
		writeEmpty(t, dir, name)
	}
	if err := set.NewDir(dir).WriteManifest(&set.Manifest{Tables: []set.Table{listed}}); err != nil {
		t.Fatal(err)
	}
	if err := setio.Sweep(dir, &set.Manifest{Tables: []set.Table{{Name: kept}}}, nil); err != nil {
		t.Fatal(err)
	}
	want := append(others, set.ManifestName)
	slices.Sort(want)
	if diff := cmp.Diff(want, list(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func writeEmpty(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

// A manifest that cannot be read lists tables that nobody knows: nothing is removed.
func TestSweepRefuses(t *testing.T) {
	dir := t.TempDir()
	writeEmpty(t, dir, "sievetable-0123456789abcdef.tmp")
	writeEmpty(t, dir, set.ManifestName)
	want := list(t, dir)
	if err := setio.Sweep(dir); err == nil {
		t.Error("no error")
	}
	if diff := cmp.Diff(want, list(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
