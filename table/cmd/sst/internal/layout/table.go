// Package layout lists the parts of a database file in file order: the blocks of a table, the batches of a
// write-ahead log, or the version edits of a MANIFEST.
package layout

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
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

// A Table lists the blocks of a table.
type Table struct {
	Notes []string // messages about parts that cannot be read

	file   *dbfile.File
	rows   []Row            // the footer, and the blocks that are not in file.Layout.Data; Rows reads them
	causes map[uint64]error // damage, by the offset of the block
}

// Of finds the blocks of a table through its footer, index and metaindex. If footer or index cannot be read, it
// finds blocks by their checksums. For a damaged table, it sets f.Layout and f.Internal as far as they are found.
func Of(f *dbfile.File, internal dbfile.InternalKeys) (*Table, error) {
	t := &Table{file: f, rows: []Row{{Kind: footer}}}
	var damage error
	if f.Layout == nil {
		f.Layout, damage = table.ReadLayout(f.Src, f.Size, f.Options)
	}
	all := damage
	if l := f.Layout; l != nil {
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

// addBlocks adds the metaindex, the blocks that it lists, and the index. It returns the damage of the metaindex and
// the filters.
func (t *Table) addBlocks() error {
	listed, err := t.file.Layout.Meta()
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
	t.add(t.file.Layout.Metaindex, metaindex)
	t.add(t.file.Layout.Index, index)
	_, filterErr := t.file.Layout.Filters()
	return errors.Join(err, filterErr)
}

// mark sets the cause of damaged rows. If the footer cannot be read, its row is placed at the damage.
func (t *Table) mark(damage error) {
	t.causes = map[uint64]error{}
	for _, e := range text.Leaves(damage) {
		var c *table.CorruptionError
		if !errors.As(e, &c) {
			continue
		}
		t.causes[uint64(c.Offset)] = c
		if end := &t.rows[0]; c.Block == footer {
			end.Offset, end.Bytes, end.cause = uint64(c.Offset), uint64(c.Length), c
		}
	}
	for i := range t.rows {
		r := &t.rows[i]
		r.cause = cmp.Or(r.cause, t.causes[r.Offset])
	}
}

// metaKinds names the kinds of blocks that the metaindex lists.
var metaKinds = map[layout.BlockKind]string{
	layout.FilterBlock: filterBlocks, layout.TableFilterBlock: filterWhole, layout.PropertiesBlock: properties,
	layout.NeverBlock: exceptions, layout.DigestBlock: digest, layout.MetaBlock: meta,
}

// all yields the blocks and the footer, in file order. There can be too many data blocks to keep a Row for each.
func (t *Table) all() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		var listed []layout.IndexEntry
		if t.file.Layout != nil {
			listed = t.file.Layout.Data
		}
		next := t.rows
		for len(listed) > 0 || len(next) > 0 {
			var r Row
			if len(next) == 0 || len(listed) > 0 && listed[0].Offset <= next[0].Offset {
				r = Row{Offset: listed[0].Offset, Bytes: listed[0].Length, Kind: data, cause: t.causes[listed[0].Offset]}
				listed = listed[1:]
			} else {
				r, next = next[0], next[1:]
			}
			if !yield(r) {
				return
			}
		}
	}
}

// Rows yields the parts of the file in file order. Errors are read errors, and do not end the sequence.
func (t *Table) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		end := uint64(0)
		for r := range t.all() {
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

// read reads a block and sets Check and Damage. It returns only read errors.
func (t *Table) read(r *Row) error {
	err := t.fill(r)
	if err = cmp.Or(err, r.cause); err == nil {
		r.Check = "ok"
		return nil
	}
	r.Check = damaged
	cause := err
	if c := (*table.CorruptionError)(nil); errors.As(err, &c) {
		cause = c.Err // without the location, which the row shows
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
		contents, id, err = t.file.Layout.ReadBlock(h)
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
		return r.count(contents, t.file.Internal && (r.Kind == data || r.Kind == index))
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
