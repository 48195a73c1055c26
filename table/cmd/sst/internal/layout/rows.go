package layout

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
)

// A Row is a part of a file: a block or the footer of a table, a record of a log, a field of a version edit, or
// other bytes.
type Row struct {
	Offset      uint64   `json:"offset"`
	Bytes       uint64   `json:"bytes"` // size as stored, without a block's trailer or a record's fragment headers
	Kind        string   `json:"kind"`
	Names       []string `json:"names,omitempty"` // names in the metaindex
	Found       bool     `json:"found_by_checksum,omitempty"`
	Compression string   `json:"compression,omitempty"`
	Raw         int      `json:"raw_bytes,omitempty"` // size after decompression
	*Entries
	Check string `json:"check,omitempty"` // result of checking checksum and form of a block: ok or damaged; "" for a gap
	*Batch
	Damage string `json:"damage,omitempty"` // description of the damage

	// Contents of a record other than a batch.
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`

	Edit *int `json:"edit,omitempty"` // number of the version edit, counted from 0
	*Field

	cause    error               // damage that is known before the block is read
	block    *salvage.FoundBlock // set if Found
	contents []byte              // contents of a record
	text     string              // describes contents
}

// Entries describes the entries of a block.
type Entries struct {
	Count    int       `json:"entries"`
	Restarts int       `json:"restart_points"`
	First    *text.Key `json:"first_key,omitempty"`
	Last     *text.Key `json:"last_key,omitempty"`
}

// end returns the end of the footer, or of a block with its trailer.
func (r *Row) end() uint64 {
	if r.Kind == footer {
		return r.Offset + r.Bytes
	}
	return r.Offset + r.Bytes + format.TrailerLen
}

// overlapsAny reports whether the block shares bytes with one of others.
func (r *Row) overlapsAny(others []Row) bool {
	return slices.ContainsFunc(others, func(o Row) bool { return r.Offset < o.end() && o.Offset < r.end() })
}

// About describes the row beyond its figures.
func (r *Row) About() string {
	switch {
	case r.Damage != "" && r.Check == "":
		return "damaged: " + r.Damage
	case r.Damage != "":
		return r.Damage
	case len(r.Names) > 0:
		return namesText(r.Names)
	case r.Entries == nil || r.First == nil:
		return r.text
	case r.Count == 1:
		return r.First.String()
	}
	return fmt.Sprintf("%v to %v", r.First, r.Last)
}

// namesText formats the first names. A block can have very many names in the metaindex.
func namesText(names []string) string {
	const shown, longest = 3, 64
	var all []string
	for _, name := range names[:min(len(names), shown)] {
		if len(name) > longest {
			name = format.Quote([]byte(name))
		}
		all = append(all, name)
	}
	if more := len(names) - shown; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// The kinds of records.
const (
	record      = "record"
	batch       = "batch"
	edit        = "edit"
	damaged     = "damaged"
	zeros       = "zeros"     // preallocated, but never written
	unreadBytes = "unread"    // after a header of zeros, LevelDB skips the rest of the block
	truncated   = "cut short" // an incomplete record at the end
)

// A Batch describes a record of a log.
type Batch struct {
	Sequence uint64 `json:"sequence"` // sequence number of the first write
	Writes   int    `json:"writes"`
}

// OfLog yields the records of a log, the fields of a MANIFEST's version edits, or the records of another file in
// the log format. Damaged parts are rows too. Errors are read errors.
func OfLog(src io.ReaderAt, size int64, kind dbfile.FileKind) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		edits, damage := 0, false
		add := func(r Row, err error) (more bool) {
			damage = damage || err != nil || r.Damage != ""
			return yield(r, err)
		}
		for r, err := range records(src, size, kind) {
			switch {
			case r.Kind != record && kind == dbfile.ManifestFile:
				r.text = r.Kind
			case r.Kind != record:
			case kind == dbfile.ManifestFile:
				number := edits
				r.Kind, r.Edit, edits = edit, &number, edits+1
				if !yieldFields(r, add) {
					return
				}
				continue
			case kind == dbfile.LogFile:
				r.readBatch()
			default:
				r.Value, r.ValueBase64 = printable.StringOrBytes(r.contents)
				r.text = format.Quote(r.contents)
			}
			if !add(r, err) {
				return
			}
		}
		if kind == dbfile.ManifestFile && !damage {
			if err := versions.CheckEdits(io.NewSectionReader(src, 0, size)); err != nil { // such as a lack of edits
				yield(Row{Offset: uint64(size), Kind: damaged, Damage: err.Error()}, nil)
			}
		}
	}
}

// readBatch counts the writes of the record.
func (r *Row) readBatch() {
	r.Kind, r.Batch = batch, new(Batch)
	for _, err := range wal.Writes(r.contents) {
		if err != nil {
			r.Damage = err.Error()
			break
		}
		r.Writes++
	}
	if len(r.contents) >= 8 {
		r.Sequence = binary.LittleEndian.Uint64(r.contents)
	}
}

// newReader returns a Reader that reads the kind of file as engines do: zeros end a log.
func newReader(src io.ReaderAt, size int64, kind dbfile.FileKind, report func(wal.Damage)) (*wal.Reader, error) {
	if kind == dbfile.ManifestFile {
		return wal.NewReader(io.NewSectionReader(src, 0, size), report), nil
	}
	in, err := wal.NewLogReader(src, size, report)
	if err == nil {
		in.FindMore()
	}
	return in, err
}

// records yields the records with their contents, and the damaged and unread parts between them.
func records(src io.ReaderAt, size int64, kind dbfile.FileKind) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var rows []Row
		in, err := newReader(src, size, kind, func(d wal.Damage) {
			r := rowOf(d.Offset, d.Bytes, damaged)
			if r.Damage = d.Reason; d.Unread {
				r.Kind = unreadBytes
			}
			rows = append(rows, r)
		})
		if err != nil {
			yield(Row{}, err)
			return
		}
		for {
			before := in.Offset()
			rows = nil
			contents, offset, err := in.Next()
			last := rowOf(offset, int64(len(contents)), record)
			last.contents = contents
			switch {
			case err == io.EOF:
				offset = min(in.Offset(), size)
				last = rowOf(offset, size-offset, map[bool]string{true: zeros, false: truncated}[in.EndsInZeros()])
			case err != nil:
				last = rowOf(before, 0, damaged)
				last.Damage = err.Error()
				yield(last, err)
				return
			}
			// A record that began before a damaged fragment is reported after it.
			slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Offset, b.Offset) })
			rows = withZeros(append(rows, last), before)
			if err != nil && last.Bytes == 0 {
				rows = rows[:len(rows)-1]
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// withZeros adds the zeros between rows that start at from.
func withZeros(rows []Row, from int64) (all []Row) {
	for _, r := range rows {
		if gap := int64(r.Offset) - from; gap >= wal.FragmentHeaderLen { // fewer bytes are a block's padding
			all = append(all, rowOf(from, gap, zeros))
		}
		all, from = append(all, r), int64(r.Offset+r.Bytes)
	}
	return all
}

func rowOf(offset, bytes int64, kind string) Row {
	return Row{Offset: uint64(offset), Bytes: uint64(bytes), Kind: kind}
}
