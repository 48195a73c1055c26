package setio_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"

	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// writeContents writes files with these contents, and returns their names.
func writeContents[S string | []byte](t testing.TB, contents []S) []string {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, content := range contents {
		name := filepath.Join(dir, string(rune('a'+i)))
		noError(t, os.WriteFile(name, []byte(content), 0o666))
		names = append(names, name)
	}
	return names
}

// If anything fails, the pipeline fails and there is no manifest. Prism continues for a while, so the error can be a
// later step's.
func TestFailuresLeaveNoManifest(t *testing.T) {
	good := writeContents(t, []string{"a\nb\n", "c\nd\n"})
	for name, test := range map[string]struct {
		files   []string
		prepare func(t *testing.T, dir string)
	}{
		"missing file": {files: append(good, "/missing")},
		"no renaming":  {files: good, prepare: blockLastTable},
		"not ours":     {files: good, prepare: writeBadManifest},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(failDir(t), "set")
			if test.prepare != nil {
				test.prepare(t, dir)
			}
			if err := build(dir, test.files, setio.Options{EntriesPerTable: 1}); err == nil {
				t.Error("the pipeline succeeds, want an error")
			}
			if m, err := os.ReadFile(filepath.Join(dir, set.ManifestName)); err == nil && string(m) != "{}" {
				t.Errorf("there is a manifest: %s", m)
			}
		})
	}
}

func writeBadManifest(t *testing.T, dir string) {
	noError(t, os.Mkdir(dir, 0o777))
	noError(t, os.WriteFile(filepath.Join(dir, set.ManifestName), []byte("{}"), 0o666))
}

// blockLastTable creates a directory with the name of the last table, so that the table cannot be written.
func blockLastTable(t *testing.T, dir string) {
	noError(t, build(dir, writeContents(t, []string{"a\nb\n", "c\nd\n"}), setio.Options{EntriesPerTable: 1}))
	m, _ := readSet(t, dir)
	noError(t, os.RemoveAll(dir))
	noError(t, os.MkdirAll(filepath.Join(dir, m.Tables[len(m.Tables)-1].Name), 0o777))
}

// Beam's gs:// and s3:// would read another object than the one of the name.
func TestNamesThatBeamParses(t *testing.T) {
	for _, name := range []string{"memfs://in/a#b", "memfs://in/a?b", "memfs://in/a%20b"} {
		memfs.Write(name, []byte("a\n"))
		checkFailed(t, build(failDir(t), []string{name}, setio.Options{}), "use a name without ? # %")
	}
	good := filepath.Join(t.TempDir(), "a#b%20?")
	noError(t, os.WriteFile(good, []byte("a\n"), 0o666))
	noError(t, build(t.TempDir(), []string{good}, setio.Options{}))
}

// An empty list of files is more likely a mistake than an empty set of keys.
func TestNoFilesIsAnError(t *testing.T) {
	dir := failDir(t)
	if err := build(dir, nil, setio.Options{}); err == nil {
		t.Error("the pipeline succeeds, want an error")
	}
	if names := list(t, dir); len(names) != 1 || !strings.HasSuffix(names[0], ".lease") {
		t.Errorf("there are files %v, want the lease of the build that failed", names)
	}
}
