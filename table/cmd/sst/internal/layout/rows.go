package layout

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// A Row is a part of a file: a block of a table or its footer, a record of a log, a field of a version edit, or bytes
// that are none of these.
type Row struct {
	Offset      uint64   `json:"offset"`
	Bytes       uint64   `json:"bytes"` // as stored, without the trailer of a block, or the fragment headers of a record
	Kind        string   `json:"kind"`
	Names       []string `json:"names,omitempty"` // names in the metaindex
	Found       bool     `json:"found_by_checksum,omitempty"`
	Compression string   `json:"compression,omitempty"`
	Raw         int      `json:"raw_bytes,omitempty"` // size after decompression
	*Entries
	Check string `json:"check,omitempty"` // result of checking checksum and form of a block: ok or damaged; "" for a gap
	*Batch
	Damage string `json:"damage,omitempty"` // what is wrong

	// What a record has that is no batch.
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`

	Edit *int `json:"edit,omitempty"` // number of the version edit, counted from 0
	*Field

	contents []byte // of a record
	text     string // describes contents
}

// Entries describes the entries of a block that is not a filter.
type Entries struct {
	Count    int       `json:"entries"`
	Restarts int       `json:"restart_points"`
	First    *text.Key `json:"first_key,omitempty"`
	Last     *text.Key `json:"last_key,omitempty"`
}

// About says what the figures do not.
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
			name = wire.Quote([]byte(name))
		}
		all = append(all, name)
	}
	if more := len(names) - shown; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// Rows yields what the file consists of, in file order. An error is a read error. The next
// rows follow it.
func (t *Table) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		end := uint64(0)
		for i := range t.sections {
			p := &t.sections[i]
			if p.Offset > end && !yield(Row{Offset: end, Bytes: p.Offset - end, Kind: gap}, nil) {
				return
			}
			r, err := t.row(p)
			if p.Offset < end && err == nil && r.Damage == "" {
				r.Check, r.Damage = damaged, "overlaps the block before it"
			}
			if !yield(r, err) {
				return
			}
			end = max(end, p.end())
		}
		if size := uint64(t.file.Size); end < size {
			yield(Row{Offset: end, Bytes: size - end, Kind: gap}, nil)
		}
	}
}

// row reads a section. Damage is no error.
func (t *Table) row(p *section) (Row, error) {
	r := Row{Offset: p.Offset, Bytes: p.Length, Kind: p.kind, Names: p.names, Found: p.found != nil, Check: "ok"}
	err := cmp.Or(t.fill(&r, p), p.damage)
	if err != nil {
		r.Check, r.Damage = damaged, reason(err)
	}
	if errors.Is(err, table.ErrCorrupt) {
		err = nil
	}
	return r, t.file.Wrap(err)
}

// reason returns the cause of an error, without the place.
func reason(err error) string {
	if c := (*table.CorruptionError)(nil); errors.As(err, &c) {
		err = c.Err
	}
	return strings.TrimPrefix(printable.String(err.Error()), "table: ")
}

// fill reads a block, and counts its entries.
func (t *Table) fill(r *Row, p *section) error {
	if p.kind == footer {
		return nil
	}
	contents, id, err := t.read(p)
	if err != nil {
		return err
	}
	r.Compression, r.Raw = tablestats.Compression(t.file, p.Handle, id), len(contents)
	switch p.kind {
	case data, index, metaindex, properties, exceptions:
		r.Entries, err = entriesOf(contents, t.internal && (p.kind == data || p.kind == index))
	}
	return err
}

// read reads a block, and checks its checksum.
func (t *Table) read(p *section) (contents []byte, compression byte, err error) {
	if p.found == nil {
		return t.layout.ReadBlock(p.Handle)
	}
	contents, err = p.found.Contents()
	return contents, p.found.Compression, corrupt(err)
}

func entriesOf(contents []byte, internal bool) (*Entries, error) {
	it, err := dbfile.OpenBlock(contents, table.AnyOrder)
	if err != nil {
		return nil, corrupt(err)
	}
	e := &Entries{Count: it.Len(), Restarts: it.NumRestarts()}
	if it.First() {
		e.First = &text.Key{Stored: bytes.Clone(it.Key()), Internal: internal}
		it.Last()
		e.Last = &text.Key{Stored: bytes.Clone(it.Key()), Internal: internal}
	}
	return e, nil
}

// corrupt marks an error as damage.
func corrupt(err error) error {
	if err == nil {
		return nil
	}
	return &table.CorruptionError{Err: err}
}
