package report

import (
	"errors"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table"
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
func (c *collector) parts() {
	l := c.f.Layout
	meta, err := l.Meta()
	c.damage(err)
	known := map[uint64]int{} // parts by offset
	for _, part := range meta {
		name := printable.Escape([]byte(part.Name))
		if i, ok := known[part.Offset]; ok {
			c.Parts[i].Name += ", " + name // a filter block can have two names
			continue
		}
		known[part.Offset] = len(c.Parts)
		c.addPart(kindOf(part.Name), name, part.Handle)
	}
	c.addPart("metaindex", "", l.Metaindex)
	if last := &c.Parts[len(c.Parts)-1]; last.Error == "" {
		last.Error = errorText(err) // the checksum can be right although the form is not
	}
	c.addPart("index", "", l.Index)
	c.Parts = append(c.Parts, Part{Kind: "footer", Offset: uint64(l.Footer), Length: format.FooterLen, Raw: format.FooterLen})
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

func (c *collector) addPart(kind, name string, h table.Handle) {
	contents, id, err := c.f.Layout.ReadBlock(h)
	c.damage(err)
	p := Part{Kind: kind, Name: name, Offset: h.Offset, Length: h.Length, Trailer: format.TrailerLen, Raw: len(contents), Error: errorText(err)}
	if err == nil {
		p.Compression = c.compression(h, id)
	}
	c.Parts = append(c.Parts, p)
}

// filters adds the filters that lookups check, with their contents if the page is to hold
// them, and says why others are not used.
func (c *collector) filters(stats []tablestats.FilterStats, holdWhole bool) {
	all := c.f.Filters()
	for _, s := range stats {
		s.Name = printable.Escape([]byte(s.Name))
		if s.WholeTable {
			c.Whole = c.filter(s, all.TableEntry, holdWhole)
		} else {
			c.Filter = c.filter(s, all.BlocksEntry, c.Blocks.Left == 0 && c.take(all.BlocksEntry))
		}
	}
	if why := c.f.FilterNote(); why != "" {
		c.Note = "A filter of the table is " + why + "."
	}
	var corrupt *table.CorruptionError // of a filter whose checksum is right
	if !errors.As(all.Err, &corrupt) {
		return
	}
	c.damage(corrupt)
	for i := range c.Parts {
		if p := &c.Parts[i]; p.Offset == uint64(corrupt.Offset) && p.Error == "" {
			p.Error = errorText(corrupt)
		}
	}
}

// filter returns nil if the filter cannot be read. It could be before, so the file has
// changed.
func (c *collector) filter(s tablestats.FilterStats, entry table.MetaindexEntry, hold bool) *Filter {
	if !hold {
		return &Filter{FilterStats: s, LeftOut: true}
	}
	contents, _, err := c.f.Layout.ReadBlock(entry.Handle)
	if err != nil {
		return nil
	}
	return &Filter{FilterStats: s, Rates: s.Rates, Contents: contents}
}
