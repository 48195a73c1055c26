// Package layout lists what a file of a database consists of, in file order: the blocks of
// a table, the batches of a write-ahead log, the version edits of a MANIFEST.
package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/printable"
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
		t.sections = append(t.sections, section{Handle: d.Handle, kind: data})
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
			t.sections = append(t.sections, section{Handle: m.Handle, kind: kindOf(m.Name)})
		}
		t.sections[i].names = append(t.sections[i].names, m.Name)
	}
	t.sections = append(t.sections, section{Handle: t.layout.Metaindex, kind: metaindex}, section{Handle: t.layout.Index, kind: index})
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
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, corruptions(e)...)
		}
		return all
	}
	if c := (*table.CorruptionError)(nil); errors.As(err, &c) {
		return []*table.CorruptionError{c}
	}
	return nil
}

// reason returns the cause of an error, without the place.
func reason(err error) string {
	if c := (*table.CorruptionError)(nil); errors.As(err, &c) {
		err = c.Err
	}
	return strings.TrimPrefix(printable.String(err.Error()), "table: ")
}
