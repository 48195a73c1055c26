package set_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/set"
)

// A manifest is replaced as a whole, or stays. A program that has the old one open reads all of it.
func TestManifestIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := set.NewDir(path)
	defer d.Close()
	_, err := d.ReadManifest()
	checkError(t, "ReadManifest without one", err, fs.ErrNotExist, "")
	var old []*os.File
	for _, want := range []*set.Manifest{twoTables(), manifestOf(twoTables().Tables[1:]...)} {
		noError(t, d.WriteManifest(want))
		bad := twoTables()
		bad.Tables[0].Entries = 0
		checkError(t, "WriteManifest", d.WriteManifest(bad), nil, "entries is 0")
		got, err := d.ReadManifest()
		noError(t, err)
		checkDiff(t, "ReadManifest", want, got)
		checkDiff(t, "files", []string{set.ManifestName}, names(t, path))
		f, _, err := regular.Open(filepath.Join(path, set.ManifestName))
		noError(t, err)
		defer f.Close()
		old = append(old, f)
	}
	got, err := set.ReadManifest(old[0])
	noError(t, err)
	checkDiff(t, "the old manifest", twoTables(), got)
}

func TestDirManifestErrors(t *testing.T) {
	t.Parallel()
	closed, missing := set.NewDir(t.TempDir()), set.NewDir(filepath.Join(t.TempDir(), "none"))
	closed.Close()
	for d, want := range map[*set.Dir]error{closed: os.ErrClosed, missing: fs.ErrNotExist} {
		_, err := d.ReadManifest()
		checkError(t, "ReadManifest", err, want, "")
		checkError(t, "WriteManifest", d.WriteManifest(twoTables()), want, "")
	}
}
