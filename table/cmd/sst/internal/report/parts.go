package report

import (
	"errors"
	"slices"
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
	c.addPart("index", "", l.Index)
	c.Parts = append(c.Parts, Part{Kind: "footer", Offset: uint64(l.Footer), Length: format.FooterLen, Raw: format.FooterLen})
	for _, err := range []error{err, c.f.Filters().Err} { // the checksum can be right although the form is not
		var corrupt *table.CorruptionError
		if !errors.As(err, &corrupt) {
			continue
		}
		text := c.damage(corrupt)
		if i := slices.IndexFunc(c.Parts, func(p Part) bool { return p.Offset == uint64(corrupt.Offset) }); i >= 0 && c.Parts[i].Error == "" {
			c.Parts[i].Error = text
		}
	}
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
	p := Part{Kind: kind, Name: name, Offset: h.Offset, Length: h.Length, Trailer: format.TrailerLen, Raw: len(contents), Error: c.damage(err)}
	if err == nil {
		p.Compression = c.compression(h, id)
	}
	c.Parts = append(c.Parts, p)
}

// compression returns the number of a block's compression in Compressions.
func (c *collector) compression(h table.Handle, id byte) int {
	name := tablestats.Compression(c.f, h, id)
	i := slices.Index(c.Compressions, name)
	if i < 0 {
		i, c.Compressions = len(c.Compressions), append(c.Compressions, name)
	}
	return i
}

// filters adds the filters that lookups check, with their contents if the page holds them, and says
// whether a table without data blocks has keys.
func (c *collector) filters(stats []tablestats.FilterStats, whole packed) {
	for _, s := range stats {
		s.Name = printable.Escape([]byte(s.Name))
		contents, at := whole, &c.Whole
		if !s.WholeTable {
			contents, at = nil, &c.Filter
			if c.Blocks.Left == 0 {
				contents = c.hold(c.f.Filters().BlocksEntry)
			}
		}
		*at = &Filter{FilterStats: s, Rates: s.Rates, Contents: contents, LeftOut: contents == nil}
	}
	if c.Blocks.Count == 0 {
		_, err := c.f.Reader.FirstKey()
		c.FilterOnly = errors.Is(err, table.ErrFilterOnly)
		if errors.Is(err, table.ErrCorrupt) {
			c.Hidden = c.damage(err)
		}
	}
}
