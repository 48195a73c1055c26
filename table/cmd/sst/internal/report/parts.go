package report

import (
	"errors"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// A Part is a block other than a data block, or the footer, or all data blocks that the page
// leaves out.
type Part struct {
	Kind        string `json:"kind"`
	Name        string `json:"name,omitempty"` // its names in the metaindex, as text
	Offset      uint64 `json:"offset"`
	Length      uint64 `json:"length"`  // size as stored
	Trailer     int    `json:"trailer"` // size of the trailer
	Raw         int    `json:"raw"`     // size after decompression
	Compression int    `json:"compression"`
	Error       string `json:"error,omitempty"`
}

// parts lists the blocks other than data blocks: those in the metaindex, metaindex, index
// and footer.
func (m *Model) parts(f *dbfile.File, d *damageList) {
	meta, err := f.Layout.Meta()
	d.add(err)
	known := map[uint64]int{} // parts by offset
	for _, part := range meta {
		if i, ok := known[part.Offset]; ok {
			m.Parts[i].Name += ", " + printable.Escape([]byte(part.Name)) // a filter block can have two names
			continue
		}
		known[part.Offset] = len(m.Parts)
		m.addPart(f, kindOf(part.Name), printable.Escape([]byte(part.Name)), part.Handle, d)
	}
	m.addPart(f, "metaindex", "", f.Layout.Metaindex, d)
	if last := &m.Parts[len(m.Parts)-1]; last.Error == "" {
		last.Error = errorText(err) // the checksum can be right although the form is not
	}
	m.addPart(f, "index", "", f.Layout.Index, d)
	m.Parts = append(m.Parts, Part{Kind: "footer", Offset: uint64(f.Layout.Footer), Length: format.FooterLen, Raw: format.FooterLen})
}

// kindOf returns the kind of a block with this name in the metaindex.
func kindOf(name string) string {
	switch {
	case strings.HasPrefix(name, format.FilterPrefix):
		return "filter"
	case strings.HasPrefix(name, format.TableFilterPrefix):
		return "table filter"
	case name == format.PropertiesName:
		return "properties"
	}
	return "meta"
}

func (m *Model) addPart(f *dbfile.File, kind, name string, h table.Handle, d *damageList) {
	contents, id, err := f.Layout.ReadBlock(h)
	d.add(err)
	p := Part{Kind: kind, Name: name, Offset: h.Offset, Length: h.Length, Trailer: format.TrailerLen, Raw: len(contents), Error: errorText(err)}
	if err == nil {
		p.Compression = m.compression(f, h, id)
	}
	m.Parts = append(m.Parts, p)
}

// filters adds the filters that lookups check, with their contents if the page is to hold
// them, and says why others are not used.
func (m *Model) filters(f *dbfile.File, stats []tablestats.FilterStats, holdWhole, holdBlocks bool, d *damageList) {
	all := f.Filters()
	for _, s := range stats {
		s.Name = printable.Escape([]byte(s.Name))
		if s.WholeTable {
			m.Whole = newFilter(f, s, all.TableEntry, holdWhole)
		} else {
			m.Filter = newFilter(f, s, all.BlocksEntry, holdBlocks)
		}
	}
	if why := f.FilterNote(); why != "" {
		m.Note = "A filter of the table is " + why + "."
	}
	if err := all.Err; err != nil {
		m.damagedFilter(err, d)
	}
}

// newFilter returns nil if the filter cannot be read. It could be before, so the file has
// changed.
func newFilter(f *dbfile.File, s tablestats.FilterStats, entry table.MetaindexEntry, hold bool) *Filter {
	if !hold {
		return &Filter{FilterStats: s, LeftOut: true}
	}
	contents, _, err := f.Layout.ReadBlock(entry.Handle)
	if err != nil {
		return nil
	}
	return &Filter{FilterStats: s, Rates: s.Rates, Contents: contents}
}

// damagedFilter adds the damage of a filter whose checksum is right.
func (m *Model) damagedFilter(err error, d *damageList) {
	var c *table.CorruptionError
	if !errors.As(err, &c) {
		return
	}
	d.add(c)
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Offset == uint64(c.Offset) && p.Error == "" {
			p.Error = errorText(c)
		}
	}
}
