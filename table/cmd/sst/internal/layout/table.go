// Package layout lists what a file of a database consists of, from its first byte to its last:
// the blocks of a table, the records of a log, the edits of a MANIFEST.
package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// The kinds of what a table consists of. "block" is one that nothing says the kind of.
const (
	data         = "data"
	filterBlocks = "filter by blocks"
	filterWhole  = "filter of the table"
	properties   = "properties"
	meta         = "meta"
	metaindex    = "metaindex"
	index        = "index"
	footer       = "footer"
	gap          = "gap"
)

// MaxSearched is the size up to which a file without footer or index is searched for blocks.
const MaxSearched = 128 << 20

// A Table lists the blocks of a table.
type Table struct {
	Notes []string // what is not known of it, for people

	file     *source.File
	layout   *table.Layout // nil: there is no footer to go by
	damage   error         // of footer or index, so that they do not say where blocks are
	internal bool          // keys of data blocks and the index are internal keys
	sections []section     // in the order of the file
}

// section is a block, or the footer.
type section struct {
	table.Handle
	kind   string
	names  []string            // that the metaindex has for it
	damage error               // that is known before it is read
	found  *salvage.FoundBlock // nil: something lists it
}

// end is where the part ends, its trailer with it.
func (p *section) end() uint64 {
	if p.kind == footer {
		return p.Offset + p.Length
	}
	return p.Offset + p.Length + format.TrailerLen
}

// Of finds out where the blocks of a table are: by its footer, index and metaindex and, where
// the first two cannot be read, by the blocks' checksums.
func Of(f *source.File, internal source.InternalKeys) (*Table, error) {
	t := &Table{file: f, layout: f.Layout, internal: f.Internal}
	if t.layout == nil {
		t.layout, t.damage = table.ReadLayout(f.Src, f.Size, f.Options)
	}
	t.addFooter() // which is parts[0] until they are sorted
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

// addFooter adds the footer, or where it is missed.
func (t *Table) addFooter() {
	p := section{kind: footer}
	if t.layout != nil {
		p.Handle = table.Handle{Offset: uint64(t.layout.Footer), Length: uint64(t.file.Size - t.layout.Footer)}
	}
	for _, c := range corruptions(t.damage) {
		if c.Block == footer {
			p.Handle, p.damage = table.Handle{Offset: uint64(c.Offset), Length: uint64(c.Length)}, c
		}
	}
	t.sections = append(t.sections, p)
}

// addBlocks adds what footer, index and metaindex list.
func (t *Table) addBlocks() {
	for _, d := range t.layout.Data {
		t.sections = append(t.sections, section{Handle: d.Handle, kind: data})
	}
	listed, err := t.layout.Meta()
	if err != nil {
		t.note("the metaindex is damaged: filters and properties are shown as gaps")
	}
	at := map[table.Handle]int{} // a block may be listed often
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

// kindOf tells by its name in the metaindex what a block is.
func kindOf(name string) string {
	switch {
	case strings.HasPrefix(name, format.FilterPrefix):
		return filterBlocks
	case strings.HasPrefix(name, format.TableFilterPrefix):
		return filterWhole
	case name == format.PropertiesName:
		return properties
	}
	return meta
}

// corruptions returns those that an error consists of.
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

// reason says what is wrong with a block, and not again where that is.
func reason(err error) string {
	if c := (*table.CorruptionError)(nil); errors.As(err, &c) {
		err = c.Err
	}
	return strings.TrimPrefix(text.Printable(err.Error()), "table: ")
}
