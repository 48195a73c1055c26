package pagetest

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// CheckScripts checks that a page has all scripts of a directory.
func CheckScripts(t *testing.T, files fs.FS, dir string, scripts []string) {
	t.Helper()
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := dir + "/" + e.Name(); strings.HasSuffix(name, ".js") && !slices.Contains(scripts, name) {
			t.Errorf("%s is not in the page", name)
		}
	}
}
