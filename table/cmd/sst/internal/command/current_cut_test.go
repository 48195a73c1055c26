package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A CURRENT that is cut within the name of the MANIFEST is at fault itself, and not the MANIFEST of the shorter name,
// which never was. It is said once.
func TestCutCurrent(t *testing.T) {
	t.Parallel()
	sound := writeSmall(t)
	current, err := os.ReadFile(filepath.Join(sound, "CURRENT"))
	if err != nil {
		t.Fatal(err)
	}
	for n := len("MANIFEST-0"); n < len(strings.TrimSpace(string(current))); n++ {
		dir := filepath.Join(t.TempDir(), "db")
		if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, "CURRENT"), int64(n)); err != nil {
			t.Fatal(err)
		}
		for _, command := range databaseCommands {
			checkMessages(t, sound, dir, "CURRENT", "truncated", command)
		}
	}
}
