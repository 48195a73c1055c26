package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
)

// What a database lists is damaged, whatever it has become.
func TestListedIsNotForeign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeDatabase(t, dir)
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	damaged := d.Tables[0].Path
	for _, contents := range []string{"", "text\n", "\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3"} {
		if err := os.WriteFile(damaged, []byte(contents), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, damaged} {
			if _, _, err := scanned(path, Options{}); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), damaged) {
				t.Errorf("%s with %q for a table: %v, want damage of %s", path, contents, err, damaged)
			}
		}
	}
	for _, pattern := range []string{"CURRENT", "MANIFEST-*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		if err := os.Remove(names[0]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenSource(dir, Options{}); err == nil || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "a Pebble table") {
		t.Errorf("without MANIFEST: %v, want what the file is", err)
	}
}
