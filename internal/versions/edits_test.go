package versions

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
)

var noError = errtest.NoError

// writeEdits writes a database that consists of CURRENT and a MANIFEST with these edits. It returns the directory.
func writeEdits(t *testing.T, edits ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000001\n"), 0o666))
	noError(t, os.WriteFile(filepath.Join(dir, "MANIFEST-000001"), tabletest.Log(t, edits...), 0o666))
	return dir
}

// An unreadable edit is an error that says which edit it is: without the edit, deleted tables would come back.
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

// complete is an edit with all fields that a MANIFEST needs. It names no log, and the last sequence number is 1.
const complete = "\x02\x00\x03\x02\x04\x01"

// A MANIFEST that is truncated after its first edits lacks fields that engines need to open it.
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

// An incomplete edit at the end, from a crash, is ignored, and so are zeros after the edits. All other damage is an
// error.
func TestEndsOfManifests(t *testing.T) {
	t.Parallel()
	last := "\x01\x08comparer"
	edits, zeros := tabletest.Log(t, complete, last), make([]byte, 1<<20)
	changed := slices.Clone(edits)
	changed[8] ^= 1
	for name, tt := range map[string]struct {
		contents     []byte
		fine         bool
		torn, unread int64
	}{
		"sound":                             {contents: edits, fine: true},
		"last edit cut":                     {contents: edits[:len(edits)-3], fine: true, torn: 7 + int64(len(last)) - 3},
		"zeros behind it":                   {contents: slices.Concat(edits, zeros[:100]), fine: true},
		"less than a header of zeros":       {contents: slices.Concat(edits, zeros[:6]), fine: true},
		"blocks of zeros":                   {contents: slices.Concat(edits, zeros), fine: true},
		"an edit in the block behind zeros": {contents: slices.Concat(edits, zeros[:32<<10-len(edits)], edits), fine: true},
		"bytes in the block of zeros":       {contents: slices.Concat(edits, zeros[:100], []byte("edit")), fine: true, unread: 104}, // LevelDB does not read them
		"nothing":                           {},
		"a few bytes":                       {contents: edits[:5]},
		"a byte changed":                    {contents: changed},
		"the first edit cut":                {contents: edits[:10]},
	} {
		dir := writeEdits(t)
		noError(t, os.WriteFile(filepath.Join(dir, "MANIFEST-000001"), tt.contents, 0o666))
		v, err := Read(dir)
		if (err == nil) != tt.fine {
			t.Errorf("%s: Read = %v, %v", name, v, err)
		}
		if err == nil && (v.Torn != tt.torn || v.Unread != tt.unread) {
			t.Errorf("%s: %d bytes are torn and %d not read, want %d and %d", name, v.Torn, v.Unread, tt.torn, tt.unread)
		}
	}
}
