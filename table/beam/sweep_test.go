package setio_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// Sweep removes only files that builds have written and no manifest lists.
func TestSweepKeepsWhatManifestsName(t *testing.T) {
	dir := t.TempDir()
	sum := strings.Repeat("0a", 32)
	for _, name := range []string{"000001-" + sum + ".ldb", "000001-" + sum + ".filter", "10000000-" + sum + ".ldb", "sievetable-beam-0123456789abcdef.tmp"} {
		writeEmpty(t, dir, name)
	}
	table := func(n int) set.Table {
		return set.Table{Name: fmt.Sprintf("%06d-%s.ldb", n, sum), Size: 100, SHA256: sum, TailSum: sum, Entries: 1, TailSize: 100}
	}
	listed, kept := table(2), table(3)
	layer := set.Layer{Tables: []set.Table{table(4)}, Removals: []set.Table{table(5)}}
	keptLayer := set.Layer{Tables: []set.Table{table(6)}, Removals: []set.Table{table(7)}}
	others := []string{
		listed.Name, kept.Name, table(4).Name, table(5).Name, table(6).Name, table(7).Name, "000001.ldb", "x000001-" + sum + ".ldb",
		"000001-" + sum + ".ldb.bak", "sievetable-notes.tmp", "sievetable-0123456789abcdef.tmp", "000001-" + sum[:16] + ".ldb",
		"00001-" + sum + ".ldb", "000001-" + sum[1:] + ".ldb",
	}
	for _, name := range others {
		writeEmpty(t, dir, name)
	}
	noError(t, set.NewDir(dir).WriteManifest(&set.Manifest{Tables: []set.Table{listed}, Layers: []set.Layer{layer}}))
	noError(t, setio.Sweep(t.Context(), dir, &set.Manifest{Tables: []set.Table{kept}, Layers: []set.Layer{keptLayer}}, nil))
	want := append(others, set.ManifestName)
	slices.Sort(want)
	checkDiff(t, "files", want, list(t, dir))
}

// endLease makes the lease so old that it has expired.
func endLease(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Error(err)
	}
}

func writeEmpty(t *testing.T, dir, name string) {
	t.Helper()
	noError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
}

// While a build has a lease, nothing is removed. An expired lease is removed.
func TestSweepLeavesABuildAlone(t *testing.T) {
	dir := t.TempDir()
	lease := "sievetable-0123456789abcdef.lease"
	table := "000001-" + strings.Repeat("0a", 32) + ".ldb"
	writeEmpty(t, dir, table)
	writeEmpty(t, dir, lease)
	err := setio.Sweep(t.Context(), dir)
	if !errors.Is(err, set.ErrBuilding) || !strings.Contains(err.Error(), filepath.Join(dir, lease)) {
		t.Errorf("error %v, want one of the lease", err)
	}
	checkDiff(t, "files", []string{table, lease}, list(t, dir))
	endLease(t, filepath.Join(dir, lease))
	noError(t, setio.Sweep(t.Context(), dir))
	if names := list(t, dir); len(names) > 0 {
		t.Errorf("files %v, want none", names)
	}
}

// Sweep and the end of a build wait for each other, and for sst, which locks the same file.
func TestSweepWaitsForTheLock(t *testing.T) {
	dir := t.TempDir()
	l := flock.New(filepath.Join(dir, set.ManifestName+".lock"))
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer l.Close()
	synctest.Test(t, func(t *testing.T) { // so that it waits until the time is up
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := setio.Sweep(ctx, dir); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
	})
}
