package layout

import (
	"fmt"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// An Edit is a field of a version edit, or a Record that is not a version edit.
type Edit struct {
	Record
	Edit *int `json:"edit,omitempty"` // number of the version edit, counted from 0
	*Field
}

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

	text string
}

// String describes the field.
func (f *Field) String() string { return f.text }

// Manifest yields the fields of the version edits of a MANIFEST. Damaged parts are yielded
// too. An error is a read error.
func Manifest(src io.ReaderAt, size int64) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		n := 0
		for r, err := range records(src, size) {
			if r.Kind == record {
				if !fields(r, n, yield) {
					return
				}
				n++
			} else if !yield(Edit{Record: r}, err) {
				return
			}
		}
	}
}

// fields yields the fields of a version edit, or one Edit without Field if there are none.
func fields(r Record, number int, yield func(Edit, error) bool) (more bool) {
	r.Kind = edit
	e := Edit{Record: r, Edit: &number}
	if len(e.contents) == 0 {
		return yield(e, nil)
	}
	for f, err := range versions.Fields(e.contents) {
		if e.Field = fieldOf(f); err != nil {
			e.Field, e.Damage = nil, err.Error()
		}
		if !yield(e, nil) {
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

// fieldOf describes a field. Its keys are slices of the version edit.
func fieldOf(f versions.Field) *Field {
	key := func(b []byte) *text.Key { return &text.Key{Stored: b, Internal: true} }
	switch f.Kind {
	case versions.FieldComparer:
		name := &text.Key{Stored: f.Key}
		return &Field{Name: "comparator", Comparer: name, text: "comparator " + wire.Quote(f.Key)}
	case versions.FieldCompactFrom:
		return &Field{Name: "compact from", Level: &f.Level, Key: key(f.Key), text: fmt.Sprintf("level %d: next compaction after %v", f.Level, key(f.Key))}
	case versions.FieldDelete:
		return &Field{Name: "delete", Level: &f.Level, Number: &f.Number, text: fmt.Sprintf("level %d: delete %06d", f.Level, f.Number)}
	case versions.FieldAdd:
		return &Field{
			Name: "add", Level: &f.Level, Number: &f.Number, Size: &f.Size, Smallest: key(f.Smallest), Largest: key(f.Largest),
			text: fmt.Sprintf("level %d: add %06d, %d bytes, %v to %v", f.Level, f.Number, f.Size, key(f.Smallest), key(f.Largest)),
		}
	}
	name := numberFields[f.Kind]
	words := fmt.Sprintf("%s %06d", name, f.Number)
	if f.Kind == versions.FieldSequence {
		words = fmt.Sprintf("%s %d", name, f.Number)
	}
	return &Field{Name: name, Number: &f.Number, text: words}
}
