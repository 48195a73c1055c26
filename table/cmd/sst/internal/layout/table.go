// Package layout lists what a file of a database consists of, in file order: the blocks of
// a table, the batches of a write-ahead log, the version edits of a MANIFEST.
package layout

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
)

// The kinds of blocks in a table. A block of unknown kind has the kind "block".
const (
	data         = "data"
	filterBlocks = "filter by blocks"
	filterWhole  = "filter of the table"
	properties   = "properties"
	exceptions   = "filter exceptions"
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
	layout   *table.Layout // nil: the footer cannot be read
	damage   error         // damage of the footer or the index, which tell where blocks are
	internal bool          // data blocks and index have internal keys
	sections []section     // in file order
}

// A section is a block or the footer.
type section struct {
	table.Handle
	kind   string
	names  []string            // its names in the metaindex
	damage error               // damage that is known before the block is read
	found  *salvage.FoundBlock // set if the block was found by its checksum
}

// end returns where the section ends, with its trailer.
func (p *section) end() uint64 {
	if p.kind == footer {
		return p.Offset + p.Length
	}
	return p.Offset + p.Length + format.TrailerLen
}

// Of finds the blocks of a table: through its footer, index and metaindex or, if footer or
// index cannot be read, by their checksums.
func Of(f *dbfile.File, internal dbfile.InternalKeys) (*Table, error) {
	t := &Table{file: f, layout: f.Layout, internal: f.Internal}
	if t.layout == nil {
		t.layout, t.damage = table.ReadLayout(f.Src, f.Size, f.Options)
	}
	t.addFooter() // it is sections[0] until they are sorted
	if t.layout != nil {
		t.addBlocks()
	}
	if t.damage != nil {
		if err := t.addFoundBlocks(internal); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(t.sections, func(a, b section) int { return cmp.Compare(a.Offset, b.Offset) })
	return t, nil
}

func (t *Table) note(format string, args ...any) {
	t.Notes = append(t.Notes, t.file.Path+": "+fmt.Sprintf(format, args...))
}

func (t *Table) add(h table.Handle, kind string) {
	t.sections = append(t.sections, section{Handle: h, kind: kind})
}

// addFooter adds the footer, or the place where it should be.
func (t *Table) addFooter() {
	p := section{kind: footer}
	if t.layout != nil {
		p.Handle, p.damage = table.Handle{Offset: uint64(t.layout.Footer), Length: uint64(t.file.Size - t.layout.Footer)}, t.layout.FooterErr
	}
	for _, c := range corruptions(t.damage) {
		if c.Block == footer {
			p.Handle, p.damage = table.Handle{Offset: uint64(c.Offset), Length: uint64(c.Length)}, c
		}
	}
	t.sections = append(t.sections, p)
}

// addBlocks adds the blocks that footer, index and metaindex list.
func (t *Table) addBlocks() {
	for _, d := range t.layout.Data {
		t.add(d.Handle, data)
	}
	listed, err := t.layout.Meta()
	if err != nil {
		t.note("the metaindex is damaged: filters and properties are shown as gaps")
	}
	at := map[table.Handle]int{} // the metaindex can list a block several times
	for _, m := range listed {
		i, ok := at[m.Handle]
		if !ok {
			i = len(t.sections)
			at[m.Handle] = i
			t.add(m.Handle, kindOf(m.Name))
		}
		t.sections[i].names = append(t.sections[i].names, m.Name)
	}
	t.add(t.layout.Metaindex, metaindex)
	t.add(t.layout.Index, index)
	_, filterErr := t.layout.Filters()
	damage := map[uint64]error{}
	for _, c := range corruptions(errors.Join(t.damage, err, filterErr)) {
		damage[uint64(c.Offset)] = c
	}
	for i := range t.sections {
		p := &t.sections[i]
		p.damage = cmp.Or(p.damage, damage[p.Offset])
	}
}

// kindOf tells the kind of a block by its name in the metaindex.
func kindOf(name string) string {
	switch {
	case strings.HasPrefix(name, format.FilterPrefix):
		return filterBlocks
	case strings.HasPrefix(name, format.TableFilterPrefix):
		return filterWhole
	case name == format.PropertiesName:
		return properties
	case name == format.NeverName:
		return exceptions
	}
	return meta
}

// corruptions returns the CorruptionErrors that err joins.
func corruptions(err error) (all []*table.CorruptionError) {
	for _, e := range dbfile.Leaves(err) {
		if c := (*table.CorruptionError)(nil); errors.As(e, &c) {
			all = append(all, c)
		}
	}
	return all
}

// addFoundBlocks adds blocks that are found by their checksums, unless they overlap blocks
// that are listed.
func (t *Table) addFoundBlocks(internal dbfile.InternalKeys) error {
	which, listed := "index", t.sections
	if t.layout == nil {
		which, listed = "footer", nil // which is only where it should be
	}
	if t.file.Size > MaxSearched {
		t.note("the %s cannot be used, and files of > %d bytes are not searched for blocks: use sst repair", which, MaxSearched)
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
	for i := range found {
		p := section{Handle: found[i].Handle, kind: found[i].Kind, found: &found[i]}
		if !p.overlapsAny(listed) {
			t.sections = append(t.sections, p)
		}
	}
	if missing := &t.sections[0]; missing.overlapsAny(t.sections[1:]) {
		missing.Handle = table.Handle{Offset: uint64(t.file.Size)}
	}
	t.nameFoundBlocks()
	t.internal = internal == dbfile.Yes || internal == dbfile.Auto && t.file.DetectInternalKeys(t.found(data))
	return nil
}

// overlapsAny reports whether the section shares bytes with one of others.
func (p *section) overlapsAny(others []section) bool {
	return slices.ContainsFunc(others, func(o section) bool { return p.Offset < o.end() && o.Offset < p.end() })
}

// nameFoundBlocks sets the names and kinds of found blocks from a found metaindex.
func (t *Table) nameFoundBlocks() {
	at := map[uint64]*section{}
	for i := range t.sections {
		at[t.sections[i].Offset] = &t.sections[i]
	}
	for it := range t.found(metaindex) {
		for it.Next() {
			offset, n := wire.Uvarint(it.Value())
			length, _ := wire.Uvarint(it.Value()[n:])
			if p := at[offset]; p != nil && p.found != nil && p.Length == length {
				p.kind, p.names = kindOf(string(it.Key())), append(p.names, string(it.Key()))
			}
		}
	}
}

// found yields the blocks of a kind that were found, if they can be read. Reading the others again returns the error.
func (t *Table) found(kind string) iter.Seq[*encoded.Iter] {
	return func(yield func(*encoded.Iter) bool) {
		for i := range t.sections {
			p := &t.sections[i]
			if p.found == nil || p.kind != kind {
				continue
			}
			contents, err := p.found.Contents()
			if err != nil {
				continue
			}
			if it, err := dbfile.OpenBlock(contents, table.AnyOrder); err == nil && !yield(it) {
				return
			}
		}
	}
}
