package source

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
)

// What a database lists is damaged, whatever it has become.
func TestListedIsNotForeign(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
	noError(t, err)
	damaged := d.Tables[0].Path
	for _, contents := range []string{"", "text\n", "\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3"} {
		noError(t, os.WriteFile(damaged, []byte(contents), 0o666))
		for _, path := range []string{dir, damaged} {
			if _, _, err := scanned(path, Options{}); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), damaged) {
				t.Errorf("%s with %q for a table: %v, want damage of %s", path, contents, err, damaged)
			}
		}
	}
	removeManifest(t, dir)
	if _, err := OpenSource(dir, Options{}); err == nil || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "a Pebble table") {
		t.Errorf("without MANIFEST: %v, want what the file is", err)
	}
}
