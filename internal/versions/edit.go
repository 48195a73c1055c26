package versions

import (
	"cmp"
	"encoding/binary"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wal"
)

// A FieldKind is the type of a field in a version edit (LevelDB, db/version_edit.cc).
type FieldKind uint64

// The kinds of fields.
const (
	FieldComparer    FieldKind = 1
	FieldLog         FieldKind = 2
	FieldNextFile    FieldKind = 3
	FieldSequence    FieldKind = 4
	FieldCompactFrom FieldKind = 5
	FieldDelete      FieldKind = 6
	FieldAdd         FieldKind = 7
	FieldPreviousLog FieldKind = 9
)

// A Field is a field of a version edit. FieldDelete sets only Level and Number of Table.
type Field struct {
	Kind FieldKind
	Key  []byte // name of the comparator, or compaction pointer of a level
	Table
}

// Fields yields the fields of a version edit. Their bytes are slices of edit. After an error it stops.
func Fields(edit []byte) iter.Seq2[Field, error] {
	return func(yield func(Field, error) bool) {
		d := decoder{rest: edit}
		for len(d.rest) > 0 {
			f := d.field()
			if d.err != nil {
				yield(Field{}, d.err)
				return
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}

// A decoder decodes fields from the start of rest. After an error, rest is empty.
type decoder struct {
	rest []byte
	err  error
}

// field decodes the tag of a field and its contents.
func (d *decoder) field() Field {
	f := Field{Kind: FieldKind(d.number())}
	switch f.Kind {
	case FieldComparer:
		f.Key = d.bytes()
	case FieldLog, FieldPreviousLog, FieldNextFile, FieldSequence:
		f.Number = d.number()
	case FieldCompactFrom:
		f.Level, f.Key = d.level(), d.bytes()
	case FieldDelete:
		f.Level, f.Number = d.level(), d.number()
	case FieldAdd:
		f.Table = Table{Level: d.level(), Number: d.number(), Size: d.number(), Smallest: d.bytes(), Largest: d.bytes()}
	default:
		d.fail(wal.Corruptionf("unknown field %d", f.Kind))
	}
	return f
}

func (d *decoder) fail(err error) { d.rest, d.err = nil, cmp.Or(d.err, err) }

func (d *decoder) number() uint64 {
	v, n := format.Uvarint(d.rest)
	if n == 0 {
		d.fail(wal.Corruption("truncated"))
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) level() int {
	n := d.number()
	if n > maxLevel {
		d.fail(wal.Corruptionf("level %d exceeds %d", n, maxLevel))
		return 0
	}
	return int(n)
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.fail(wal.Corruption("truncated"))
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// Append appends the field to dst as a part of a version edit, and returns the extended slice. Fields yields the
// same field from it. Level must be a level that Fields accepts.
func (f Field) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(f.Kind))
	switch f.Kind {
	case FieldComparer:
		return appendBytes(dst, f.Key)
	case FieldCompactFrom:
		return appendBytes(binary.AppendUvarint(dst, uint64(f.Level)), f.Key)
	case FieldDelete:
		return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(f.Level)), f.Number)
	case FieldAdd:
		for _, n := range []uint64{uint64(f.Level), f.Number, f.Size} {
			dst = binary.AppendUvarint(dst, n)
		}
		return appendBytes(appendBytes(dst, f.Smallest), f.Largest)
	default:
		return binary.AppendUvarint(dst, f.Number)
	}
}

// appendBytes appends the length of b, and b.
func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// A Header contains the fields of a MANIFEST of one edit besides tables. Engines do not open a database without
// them.
type Header struct {
	Comparer     string // name of the comparator
	Log          uint64 // number of the oldest live log; 0 if there is none
	NextFile     uint64 // > the numbers of all files
	LastSequence uint64 // ≥ the sequence numbers of all keys
}

// Edit returns the version edit of the header.
func (h Header) Edit() (edit []byte) {
	for _, f := range []Field{
		{Kind: FieldComparer, Key: []byte(h.Comparer)},
		{Kind: FieldLog, Table: Table{Number: h.Log}},
		{Kind: FieldNextFile, Table: Table{Number: h.NextFile}},
		{Kind: FieldSequence, Table: Table{Number: h.LastSequence}},
	} {
		edit = f.Append(edit)
	}
	return edit
}

// WriteManifest writes a MANIFEST of one edit. tables contains the encoded fields of the tables.
func WriteManifest(w io.Writer, h Header, tables []byte) error {
	return wal.NewWriter(w).Append(append(h.Edit(), tables...))
}
