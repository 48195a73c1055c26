package versions

import "testing"

// ReadHistory reads the sound edits of any file, and skips the others.
func FuzzReadHistory(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("\x02\x05\x07\x00\x06\x10\x01a\x01b"))
	f.Fuzz(func(t *testing.T, edit []byte) {
		dir := writeEdits(t, "\x07\x00\x06\x10\x01a\x01b", string(edit), "\x06\x00\x06\x07\x01\x0c\x10\x01a\x01b")
		h, err := ReadHistory(dir, "MANIFEST-000001")
		if err != nil {
			t.Fatal(err) // no edit of a few bytes has too many tables
		}
		if !h.IsObsoleteTable(6) || h.IsObsoleteTable(12) {
			t.Errorf("the last edit, which is sound, is not applied")
		}
	})
}
