package versions

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
)

func keyOf(user string, sequence uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte(user), sequence<<8|1)
}

// compareKeys is the bytewise order of internal keys.
var compareKeys = table.InternalComparer(table.BytewiseComparer).Compare

// listed returns the field for an added table.
func listed(level int, number uint64, smallest, largest []byte) Field {
	return Field{Kind: FieldAdd, Table: Table{Level: level, Number: number, Size: 9, Smallest: smallest, Largest: largest}}
}

// Check reports everything that engines do not write, as a Flaw of its file. A Flaw is fatal if the database cannot
// be read.
func TestCheck(t *testing.T) {
	t.Parallel()
	number := func(kind FieldKind, n uint64) Field { return Field{Kind: kind, Table: Table{Number: n}} }
	for _, tt := range []struct {
		name    string
		current string // "": as engines write it
		fields  []Field
		want    []string // file, whether it is fatal, and what
	}{
		{"sound", "", []Field{
			listed(0, 7, keyOf("a", 5), keyOf("c", 6)), listed(0, 6, keyOf("b", 3), keyOf("c", 4)),
			listed(1, 5, keyOf("c", 1), keyOf("d", 1)), listed(1, 4, keyOf("a", 1), keyOf("c", 2)),
		}, nil},
		{"CURRENT without its newline", "MANIFEST-000001", nil, []string{"CURRENT false its newline is missing, so engines refuse the database"}},
		{"CURRENT with a short number", "MANIFEST-1\n", nil, []string{"CURRENT false it names MANIFEST-1, which engines call MANIFEST-000001 and may not find"}},
		{"no comparator", "", []Field{{Kind: FieldComparer}}, []string{"MANIFEST-000001 false no edit names the comparator, so goleveldb refuses the database"}},
		{"the number of a table is the next one", "", []Field{listed(0, 20, keyOf("a", 1), keyOf("a", 1))},
			[]string{"MANIFEST-000001 false the next file number is 20, though there is a file with number 20, so engines may overwrite files"}},
		{"the number of the MANIFEST is the next one", "", []Field{number(FieldNextFile, 1)},
			[]string{"MANIFEST-000001 false the next file number is 1, though there is a file with number 1, so engines may overwrite files"}},
		{"the log has a higher number", "", []Field{number(FieldLog, 21)},
			[]string{"MANIFEST-000001 false the next file number is 20, though there is a file with number 21, so engines may overwrite files"}},
		{"a sequence number that is too high", "", []Field{number(FieldSequence, 1<<56)},
			[]string{"MANIFEST-000001 true the last sequence number, 72057594037927936, exceeds the maximum of 72057594037927935"}},
		{"a table in two levels", "", []Field{listed(1, 7, keyOf("a", 1), keyOf("a", 1)), listed(2, 7, keyOf("a", 1), keyOf("a", 1))},
			[]string{"MANIFEST-000001 true table 000007 is listed twice"}},
		{"a key that is not an internal key", "", []Field{listed(1, 7, []byte("a"), keyOf("a", 1)), listed(1, 8, keyOf("a", 1), keyOf("a", 1))},
			[]string{`MANIFEST-000001 true table 000007: its range has the key "a", which is not an internal key`}},
		{"a range that is backward", "", []Field{listed(0, 7, keyOf("b", 1), keyOf("a", 2))},
			[]string{`MANIFEST-000001 true table 000007: its first key "b" @ 1 is after its last key "a" @ 2`}},
		{"ranges that overlap", "", []Field{listed(3, 7, keyOf("a", 1), keyOf("c", 2)), listed(3, 8, keyOf("b", 1), keyOf("d", 2))},
			[]string{`MANIFEST-000001 true level 3: table 000007 ends with key "c" @ 2, and table 000008 after it begins with "b" @ 1: their ranges overlap`}},
		{"ranges that share a key", "", []Field{listed(3, 7, keyOf("a", 1), keyOf("c", 2)), listed(3, 8, keyOf("c", 2), keyOf("d", 2))},
			[]string{`MANIFEST-000001 true level 3: table 000007 ends with key "c" @ 2, and table 000008 after it begins with "c" @ 2: their ranges overlap`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := readFields(t, tt.current, tt.fields)
			var got []string
			for _, f := range v.Check(compareKeys) {
				got = append(got, fmt.Sprint(f.File, " ", f.Fatal, " ", f.What))
			}
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Check (-want +got):\n%s", diff)
			}
		})
	}
}

// readFields reads a database whose MANIFEST consists of two edits: one with all required fields, and one with the
// given fields.
func readFields(t *testing.T, current string, fields []Field) *Version {
	t.Helper()
	var edit []byte
	for _, f := range fields {
		edit = f.Append(edit)
	}
	dir := writeEdits(t, "\x01\x01c\x02\x00\x03\x14\x04\x01", string(edit))
	if current != "" {
		noError(t, os.Link(filepath.Join(dir, "MANIFEST-000001"), filepath.Join(dir, "MANIFEST-1")))
		noError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte(current), 0o666))
	}
	v, err := Read(dir)
	noError(t, err)
	return v
}

// If another MANIFEST is read than CURRENT names, CURRENT is still checked by itself.
func TestCheckOfCurrentThatNamesAnother(t *testing.T) {
	t.Parallel()
	dir := writeEdits(t, "\x01\x01c\x02\x00\x03\x14\x04\x01")
	for current, want := range map[string][]Flaw{
		"MANIFEST-000007\n": nil,
		"MANIFEST-000007":   {{File: "CURRENT", What: "its newline is missing, so engines refuse the database"}},
		"MANIFEST-7\n":      nil, // which is missing
		"":                  nil, // reading it is an error
	} {
		noError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte(current), 0o666))
		v, err := ReadManifest(dir, "MANIFEST-000001")
		noError(t, err)
		if diff := gocmp.Diff(want, v.Check(compareKeys)); diff != "" {
			t.Errorf("CURRENT %q (-want +got):\n%s", current, diff)
		}
	}
}

// Only the first flaws are listed, since there can be a million tables.
func TestCheckListsFewFlaws(t *testing.T) {
	t.Parallel()
	var fields []Field
	for n := range uint64(1000) {
		fields = append(fields, listed(1, n, []byte("a"), []byte("b")))
	}
	if n := len(readFields(t, "", fields).Check(compareKeys)); n != maxFlaws {
		t.Errorf("%d flaws, want %d", n, maxFlaws)
	}
}

// goleveldb has more levels than LevelDB, which refuses a MANIFEST that has such a level in any field.
func TestLevelNote(t *testing.T) {
	t.Parallel()
	for level := range 9 {
		for _, kind := range []FieldKind{FieldAdd, FieldDelete, FieldCompactFrom} {
			v := readFields(t, "", []Field{{Kind: kind, Table: Table{Level: level, Smallest: keyOf("a", 1), Largest: keyOf("a", 1)}}})
			if note := v.LevelNote(); (note != "") != (level > 6) || len(v.Check(compareKeys)) > 0 {
				t.Errorf("level %d: %q, %v", level, note, v.Check(compareKeys))
			}
		}
	}
}
