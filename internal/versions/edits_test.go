package versions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
)

var noError = errtest.NoError

// writeEdits writes a database of a CURRENT and a MANIFEST with these edits, and returns its directory.
func writeEdits(t *testing.T, edits ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000001\n"), 0o666))
	noError(t, os.WriteFile(filepath.Join(dir, "MANIFEST-000001"), tabletest.Log(t, edits...), 0o666))
	return dir
}

// An edit that cannot be read is an error that says which: without it, deleted tables would come back.
func TestUnreadableEditsAreErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, edit, want string }{
		{"a number that is cut", "\x02\x85", "truncated"},
		{"a field without its number", "\x02", "truncated"},
		{"a name that is cut", "\x01\x05abcd", "truncated"},
		{"a table without its size", "\x07\x00\x05", "truncated"},
		{"a table without its last key", "\x07\x00\x05\x10\x01a\x03b", "truncated"},
		{"a field that LevelDB does not have", "\x08\x01", "unknown field 8"},
		{"a level above all", "\x06\x40\x05", "level 64 exceeds 63"},
		{"damage behind sound fields", "\x02\x07\x08\x01", "unknown field 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Read(writeEdits(t, "\x01\x01c\x06\x3f\x05", tt.edit)) // the first one is sound
			if want := "MANIFEST-000001: edit 1, at 13: " + tt.want; v != nil || !strings.HasSuffix(fmt.Sprint(err), want) {
				t.Errorf("Read = %v, %v; want an error …%s", v, err, want)
			}
		})
	}
}

// complete is an edit with all fields that a MANIFEST needs, of no log and the last sequence number 1.
const complete = "\x02\x00\x03\x02\x04\x01"

// A MANIFEST that was cut behind its first edits lacks fields without which engines do not open it.
func TestIncompleteManifestsAreErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ edits, want string }{
		{"\x01\x01c", "no edit has a log number"},
		{"\x01\x01c\x02\x00", "no edit has a next file number"},
		{"\x01\x01c\x02\x00\x03\x02", "no edit has a last sequence number"},
		{complete, ""},
	} {
		_, err := Read(writeEdits(t, tt.edits))
		if got := fmt.Sprint(err); (err != nil) != (tt.want != "") || !strings.Contains(got, tt.want) && err != nil {
			t.Errorf("Read of edits %q: %v, want %q", tt.edits, err, tt.want)
		}
	}
}
