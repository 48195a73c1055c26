package versions

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// historyEdits are edits of a MANIFEST 9: what it lists when it is begun, and what changes then.
var historyEdits = []string{
	"\x02\x05" + "\x07\x00\x06\x10\x01a\x01b" + "\x07\x01\x07\x10\x01a\x01b",
	"\x02\x0a" + "\x07\x00\x0b\x10\x01a\x01b",
	"\x06\x00\x06\x06\x00\x0b" + "\x07\x01\x0c\x10\x01a\x01b",
	"\x06\x01\x0c" + "\x07\x02\x0c\x10\x01a\x01b", // which moves
}

// What a MANIFEST calls obsolete, and what it says nothing of, as far as its edits can be read.
func TestHistory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		damaged      int      // the edit a byte of which is flipped; -1: none is
		tables, logs []uint64 // that are obsolete
	}{
		{"sound", -1, []uint64{1, 2, 3, 4, 5, 6, 8, 11}, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"the start", 0, []uint64{6, 11}, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"the second edit", 1, []uint64{1, 2, 3, 4, 5, 6, 8, 11}, []uint64{1, 2, 3, 4}},
		{"the third edit", 2, []uint64{1, 2, 3, 4, 5, 8}, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := writeEdits(t, historyEdits...)
			path := filepath.Join(dir, "MANIFEST-000009")
			contents, err := os.ReadFile(filepath.Join(dir, "MANIFEST-000001"))
			noError(t, err)
			if tt.damaged >= 0 {
				contents[bytes.Index(contents, []byte(historyEdits[tt.damaged]))] ^= 1
			}
			noError(t, os.WriteFile(path, contents, 0o666))
			h, err := ReadHistory(dir, "MANIFEST-000009")
			noError(t, err)
			var tables, logs []uint64
			for n := range uint64(20) {
				if n > 0 && h.IsObsoleteTable(n) {
					tables = append(tables, n)
				}
				if n > 0 && h.IsObsoleteLog(n) {
					logs = append(logs, n)
				}
			}
			if diff := cmp.Diff([][]uint64{tt.tables, tt.logs}, [][]uint64{tables, logs}); diff != "" {
				t.Errorf("obsolete tables and logs (-want +got):\n%s", diff)
			}
		})
	}
}

// A file of any bytes has a history, or an error that says what is wrong.
func FuzzReadHistory(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("\x02\x05\x07\x00\x06\x10\x01a\x01b"))
	f.Fuzz(func(t *testing.T, edit []byte) {
		dir := writeEdits(t, historyEdits[0], string(edit), historyEdits[2])
		h, err := ReadHistory(dir, "MANIFEST-000001")
		if err != nil {
			t.Fatal(err) // no edit of a few bytes has too many tables
		}
		if !h.IsObsoleteTable(6) || h.IsObsoleteTable(12) {
			t.Errorf("the last edit, which is sound, says otherwise")
		}
	})
}
