//go:build unix

package set_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// If the manifest's name denotes a pipe, NewBuilder does not wait for a writer.
func TestNewBuilderRefusesPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, set.ManifestName)
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Skip(err)
	}
	pipe, err := os.OpenFile(name, os.O_RDWR, 0) // so that a read would return data
	noError(t, err)
	defer pipe.Close()
	_, err = pipe.WriteString("no manifest\n")
	noError(t, err)
	_, err = set.NewBuilder(t.Context(), dirStore(dir), nil)
	checkError(t, "NewBuilder", err, nil, "a named pipe, not a regular file")
}

// If the manifest is a link, the file it points to is replaced, and the tables are in the link's directory.
func TestManifestIsALink(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	buildSet(t, elsewhere, 5, "v")
	target, link := filepath.Join(elsewhere, set.ManifestName), filepath.Join(dir, set.ManifestName)
	noError(t, os.Symlink(target, link))
	tables := buildSet(t, dir, 25, "w")
	if got, err := os.Readlink(link); err != nil || got != target {
		t.Errorf("the link leads to %s, %v", got, err)
	}
	checkDiff(t, "tables", tables, readManifest(t, elsewhere).Tables)
	if _, err := os.Stat(filepath.Join(dir, tables[0].Name)); err != nil {
		t.Error(err)
	}
}

// A link to a table counts as a table of the directory. Sweep removes the link, not its target. Links to nothing, or
// to other than regular files, are ignored.
func TestTableIsALink(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	tables := buildSet(t, elsewhere, 25, "v")
	for name, target := range map[string]string{
		tables[0].Name: filepath.Join(elsewhere, tables[0].Name), "gone.ldb": "nowhere", "dir.ldb": elsewhere, "loop.ldb": "loop.ldb",
	} {
		noError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	m := &set.Manifest{Tables: tables[:1]}
	noError(t, set.PublishManifest(t.Context(), dirStore(dir), "other.jsonl", m, nil))
	noError(t, set.Sweep(t.Context(), dirStore(dir), &set.SweepOptions{AnyAge: true, Manifests: []string{"other.jsonl"}}))
	link := filepath.Join(dir, tables[0].Name)
	if _, err := os.Stat(link); err != nil {
		t.Error(err)
	}
	noError(t, set.Sweep(t.Context(), dirStore(dir), &set.SweepOptions{AnyAge: true}))
	if _, err := os.Lstat(link); !os.IsNotExist(err) {
		t.Errorf("the link is left: %v", err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, tables[0].Name)); err != nil {
		t.Error(err)
	}
}
