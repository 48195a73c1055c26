// Package layout lists what a file of a database consists of, in file order: the blocks of
// a table, the batches of a write-ahead log, the version edits of a MANIFEST.
package layout

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/layout"
)

// The kinds of blocks in a table. A block of unknown kind has the kind "block".
const (
	data         = "data"
	filterBlocks = "block filters"
	filterWhole  = "table filter"
	properties   = "properties"
	exceptions   = "filter exceptions"
	digest       = "digest"
	meta         = "meta"
	metaindex    = "metaindex"
	index        = "index"
	footer       = "footer"
	gap          = "gap"
)

// MaxSearched is the largest file that is searched for blocks by their checksums.
const MaxSearched = 128 << 20

// A Table lists the blocks of a table.
type Table struct {
	Notes []string // what is unknown, for messages

	file     *dbfile.File
	layout   *layout.Layout // nil: the footer cannot be read
	internal bool           // data blocks and index have internal keys
	rows     []Row          // the footer, and blocks that have yet to be read
}

// Of finds the blocks of a table: through its footer, index and metaindex or, if footer or
// index cannot be read, by their checksums.
func Of(f *dbfile.File, internal dbfile.InternalKeys) (*Table, error) {
	t := &Table{file: f, layout: f.Layout, internal: f.Internal, rows: []Row{{Kind: footer}}}
	var damage error
	if t.layout == nil {
		t.layout, damage = table.ReadLayout(f.Src, f.Size, f.Options)
	}
	all := damage
	if l := t.layout; l != nil {
		end := &t.rows[0]
		end.Offset, end.Bytes, end.cause = uint64(l.Footer), uint64(f.Size-l.Footer), l.FooterErr
		all = errors.Join(damage, t.addBlocks())
	}
	t.mark(all)
	if damage != nil {
		if err := t.addFoundBlocks(internal); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(t.rows, func(a, b Row) int { return cmp.Compare(a.Offset, b.Offset) })
	return t, nil
}

func (t *Table) note(format string, args ...any) {
	t.Notes = append(t.Notes, t.file.Path+": "+fmt.Sprintf(format, args...))
}

func (t *Table) add(h layout.Handle, kind string) {
	t.rows = append(t.rows, Row{Offset: h.Offset, Bytes: h.Length, Kind: kind})
}

// addBlocks adds the blocks that index and metaindex list. It returns the damage of the metaindex and of filters.
func (t *Table) addBlocks() error {
	for _, d := range t.layout.Data {
		t.add(d.Handle, data)
	}
	listed, err := t.layout.Meta()
	if err != nil {
		t.note("the metaindex is damaged: filters and properties are shown as gaps")
	}
	at := map[layout.Handle]int{} // the metaindex can list a block several times
	for _, m := range listed {
		i, ok := at[m.Handle]
		if !ok {
			i = len(t.rows)
			at[m.Handle] = i
			t.add(m.Handle, metaKinds[m.Kind()])
		}
		t.rows[i].Names = append(t.rows[i].Names, m.Name)
	}
	t.add(t.layout.Metaindex, metaindex)
	t.add(t.layout.Index, index)
	_, filterErr := t.layout.Filters()
	return errors.Join(err, filterErr)
}

// mark marks the rows at which there is damage. A footer that cannot be read is where the damage is.
func (t *Table) mark(damage error) {
	causes := map[uint64]error{}
	for _, e := range dbfile.Leaves(damage) {
		var c *table.CorruptionError
		if !errors.As(e, &c) {
			continue
		}
		causes[uint64(c.Offset)] = c
		if end := &t.rows[0]; c.Block == footer {
			end.Offset, end.Bytes, end.cause = uint64(c.Offset), uint64(c.Length), c
		}
	}
	for i := range t.rows {
		r := &t.rows[i]
		r.cause = cmp.Or(r.cause, causes[r.Offset])
	}
}

// metaKinds names the kinds of blocks that the metaindex lists.
var metaKinds = map[layout.BlockKind]string{
	layout.FilterBlock: filterBlocks, layout.TableFilterBlock: filterWhole, layout.PropertiesBlock: properties,
	layout.NeverBlock: exceptions, layout.DigestBlock: digest, layout.MetaBlock: meta,
}

// addFoundBlocks adds blocks that are found by their checksums, unless they overlap blocks
// that are listed.
func (t *Table) addFoundBlocks(internal dbfile.InternalKeys) error {
	which, listed := "index", t.rows
	if t.layout == nil {
		which, listed = "footer", nil // which is only where it should be
	}
	if t.file.Size > MaxSearched {
		t.note("the %s cannot be used, and files larger than %d bytes are not searched for blocks: use sst repair", which, MaxSearched)
		return nil
	}
	t.note("the %s cannot be used: blocks are found by their checksums, and damaged blocks are shown as gaps", which)
	found, err := salvage.FindBlocks(t.file)
	if err == nil && len(found) == 0 {
		err = t.file.ForeignErr
	}
	if err != nil {
		return err
	}
	if len(found) == salvage.MaxFound {
		t.note("the blocks behind the first %d are shown as a gap: use sst repair", len(found))
	}
	for i, b := range found {
		r := Row{Offset: b.Offset, Bytes: b.Length, Kind: b.Kind, Found: true, block: &found[i]}
		if !r.overlapsAny(listed) {
			t.rows = append(t.rows, r)
		}
	}
	if missing := &t.rows[0]; missing.overlapsAny(t.rows[1:]) {
		missing.Offset, missing.Bytes = uint64(t.file.Size), 0
	}
	t.nameFoundBlocks()
	t.internal = internal == dbfile.Yes || internal == dbfile.Auto && t.file.DetectInternalKeys(t.found(data))
	return nil
}

// nameFoundBlocks sets the names and kinds of found blocks from a found metaindex.
func (t *Table) nameFoundBlocks() {
	at := map[uint64]*Row{}
	for i := range t.rows {
		at[t.rows[i].Offset] = &t.rows[i]
	}
	for it := range t.found(metaindex) {
		for it.Next() {
			offset, n := format.Uvarint(it.Value())
			length, _ := format.Uvarint(it.Value()[n:])
			if r := at[offset]; r != nil && r.Found && r.Bytes == length {
				name := string(it.Key())
				r.Kind, r.Names = metaKinds[layout.MetaindexEntry{Name: name}.Kind()], append(r.Names, name)
			}
		}
	}
}

// found yields the blocks of a kind that were found, if they can be read. Reading the others again returns the error.
func (t *Table) found(kind string) iter.Seq[*rowblock.Iter] {
	return func(yield func(*rowblock.Iter) bool) {
		for _, r := range t.rows {
			if !r.Found || r.Kind != kind {
				continue
			}
			contents, err := r.block.Contents()
			if err != nil {
				continue
			}
			if it, err := dbfile.OpenBlock(contents, table.AnyOrder); err == nil && !yield(it) {
				return
			}
		}
	}
}

// Rows yields what the file consists of, in file order. An error is a read error. The next
// rows follow it.
func (t *Table) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		end := uint64(0)
		for _, r := range t.rows {
			if r.Offset > end && !yield(Row{Offset: end, Bytes: r.Offset - end, Kind: gap}, nil) {
				return
			}
			err := t.read(&r)
			if r.Offset < end && err == nil && r.Damage == "" {
				r.Check, r.Damage = damaged, "overlaps the block before it"
			}
			if !yield(r, err) {
				return
			}
			end = max(end, r.end())
		}
		if size := uint64(t.file.Size); end < size {
			yield(Row{Offset: end, Bytes: size - end, Kind: gap}, nil)
		}
	}
}

// read reads a block. Damage is no error.
func (t *Table) read(r *Row) error {
	err := t.fill(r)
	if err = cmp.Or(err, r.cause); err == nil {
		r.Check = "ok"
		return nil
	}
	r.Check = damaged
	cause := err
	if c := (*table.CorruptionError)(nil); errors.As(err, &c) {
		cause = c.Err // without the place
	}
	r.Damage = strings.TrimPrefix(printable.String(cause.Error()), "table: ")
	if errors.Is(err, table.ErrCorrupt) {
		return nil
	}
	return t.file.Wrap(err)
}

// fill reads a block, checks its checksum, and counts its entries.
func (t *Table) fill(r *Row) error {
	if r.Kind == footer {
		return nil
	}
	h := layout.Handle{Offset: r.Offset, Length: r.Bytes}
	contents, id, err := []byte(nil), byte(0), error(nil)
	if !r.Found {
		contents, id, err = t.layout.ReadBlock(h)
	} else if contents, err = r.block.Contents(); err != nil {
		err = &table.CorruptionError{Err: err}
	} else {
		id = r.block.Compression
	}
	if err != nil {
		return err
	}
	r.Compression, r.Raw = tablestats.Compression(t.file, h, id), len(contents)
	switch r.Kind {
	case data, index, metaindex, properties, exceptions:
		return r.count(contents, t.internal && (r.Kind == data || r.Kind == index))
	}
	return nil
}

// count counts the entries of a block.
func (r *Row) count(contents []byte, internal bool) error {
	it, err := dbfile.OpenBlock(contents, table.AnyOrder)
	if err != nil {
		return &table.CorruptionError{Err: err}
	}
	r.Entries = &Entries{Count: it.Len(), Restarts: it.NumRestarts()}
	if it.First() {
		r.First = &text.Key{Stored: bytes.Clone(it.Key()), Internal: internal}
		it.Last()
		r.Last = &text.Key{Stored: bytes.Clone(it.Key()), Internal: internal}
	}
	return nil
}
