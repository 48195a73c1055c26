package versions

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func fieldsOf(t *testing.T, edit []byte) (fields []Field) {
	t.Helper()
	for f, err := range Fields(edit) {
		noError(t, err)
		fields = append(fields, f)
	}
	return fields
}

// Fields yields the field that Append appended.
func TestAppendField(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Field{
		"comparator":         {Kind: FieldComparer, Key: []byte("leveldb.BytewiseComparator")},
		"log":                {Kind: FieldLog, Table: Table{Number: 1 << 40}},
		"no previous log":    {Kind: FieldPreviousLog},
		"next file":          {Kind: FieldNextFile, Table: Table{Number: 127}},
		"last sequence":      {Kind: FieldSequence, Table: Table{Number: 1<<56 - 1}},
		"compaction pointer": {Kind: FieldCompactFrom, Key: []byte("key"), Table: Table{Level: 5}},
		"deleted table":      {Kind: FieldDelete, Table: Table{Level: maxLevel, Number: 300}},
		"added table":        {Kind: FieldAdd, Table: Table{Level: 6, Number: 9, Size: 1 << 63, Smallest: []byte("a"), Largest: bytes.Repeat([]byte("b"), 300)}},
	} {
		t.Run(name, func(t *testing.T) {
			edit := want.Append(Field{Kind: FieldLog}.Append(nil)) // after another one
			if diff := cmp.Diff([]Field{{Kind: FieldLog}, want}, fieldsOf(t, edit)); diff != "" {
				t.Errorf("(-want +read):\n%s", diff)
			}
		})
	}
}

// A readable edit is written again byte for byte, since each of its numbers has only one encoding.
func FuzzAppendField(f *testing.F) {
	f.Add([]byte("\x01\x03abc\x02\x05\x03\x06\x04\x07\x05\x00\x01a\x06\x00\x09\x07\x00\x0a\x64\x01a\x01b\x09\x00"))
	f.Add([]byte("\x07\x3f\x80\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, edit []byte) {
		var again []byte
		for field, err := range Fields(edit) {
			if err != nil {
				return
			}
			again = field.Append(again)
		}
		if !bytes.Equal(again, edit) {
			t.Errorf("%x is written again as %x", edit, again)
		}
	})
}
