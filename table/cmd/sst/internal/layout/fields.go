package layout

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Field is a field of a version edit.
type Field struct {
	Name     string    `json:"field"`
	Number   *uint64   `json:"number,omitempty"` // a file number or a sequence number
	Level    *int      `json:"level,omitempty"`
	Size     *uint64   `json:"table_bytes,omitempty"`
	Comparer *text.Key `json:"comparator,omitempty"`
	Key      *text.Key `json:"compact_from,omitempty"`
	Smallest *text.Key `json:"smallest,omitempty"`
	Largest  *text.Key `json:"largest,omitempty"`
}

// yieldFields yields the fields of a version edit, or its row without Field if there are none.
func yieldFields(r Row, yield func(Row, error) bool) (more bool) {
	if len(r.contents) == 0 {
		r.text = "empty"
		return yield(r, nil)
	}
	for f, err := range versions.Fields(r.contents) {
		if r.Field, r.text = fieldOf(f); err != nil {
			r.Field, r.Damage = nil, err.Error()
		}
		if !yield(r, nil) {
			return false
		}
	}
	return true
}

// numberFields are the names of the fields that hold a number.
var numberFields = map[versions.FieldKind]string{
	versions.FieldLog: "log", versions.FieldPreviousLog: "previous log",
	versions.FieldNextFile: "next file", versions.FieldSequence: "last sequence",
}

// fieldOf returns a field and its description. Its keys are slices of the version edit.
func fieldOf(f versions.Field) (*Field, string) {
	key := func(b []byte) *text.Key { return &text.Key{Stored: b, Internal: true} }
	switch f.Kind {
	case versions.FieldComparer:
		return &Field{Name: "comparator", Comparer: &text.Key{Stored: f.Key}}, "comparator " + format.Quote(f.Key)
	case versions.FieldCompactFrom:
		return &Field{Name: "compact from", Level: &f.Level, Key: key(f.Key)},
			fmt.Sprintf("level %d: next compaction after %v", f.Level, key(f.Key))
	case versions.FieldDelete:
		return &Field{Name: "delete", Level: &f.Level, Number: &f.Number}, fmt.Sprintf("level %d: delete %06d", f.Level, f.Number)
	case versions.FieldAdd:
		return &Field{Name: "add", Level: &f.Level, Number: &f.Number, Size: &f.Size, Smallest: key(f.Smallest), Largest: key(f.Largest)},
			fmt.Sprintf("level %d: add %06d, %d bytes, %v to %v", f.Level, f.Number, f.Size, key(f.Smallest), key(f.Largest))
	case versions.FieldSequence: // not a file number
		return &Field{Name: numberFields[f.Kind], Number: &f.Number}, fmt.Sprintf("last sequence %d", f.Number)
	}
	return &Field{Name: numberFields[f.Kind], Number: &f.Number}, fmt.Sprintf("%s %06d", numberFields[f.Kind], f.Number)
}
