package report

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/layout"
)

// Blocks are the data blocks in a compact form, since there can be very many.
type Blocks struct {
	Count   int            `json:"count"`
	Left    int            `json:"left,omitempty"` // number of further blocks that the page leaves out, since their index entries exceed maxHeld
	Index   packed         `json:"index"`          // an index as JSON
	Entries packed         `json:"entries"`
	Errors  map[int]string `json:"errors"` // errors of damaged blocks, by number
}

// An index describes each block, without its entries.
type index struct {
	// Columns are offset, size as stored, size decompressed, the numbers of entries, of distinct user
	// keys and of tombstones, the number of the compression in Compressions, and the number of bytes in
	// Entries. For a damaged block, only the first two are not zero.
	Columns    [8][]uint64
	Separators [][]byte
}

// Each entry in Blocks.Entries consists of the number of key bytes shared with the key before, the number of other
// key bytes, and these bytes; the length of the value; and the length and the bytes of the value's start.

const (
	maxShownValue = 32 // bytes of a value
	maxSample     = 80 // bytes of an example key
	indexBytes    = 10 // approximate size of a block in the page, without its separator
)

// blocks reads the data blocks in file order, and returns the statistics of the filters.
func (c *collector) blocks() []tablestats.FilterStats {
	keys, data := tablestats.NewFilterKeys(c.f, tablestats.NewBudget(1)), c.f.Layout.Data
	sizes := blockSizes{sizeCounts{}, sizeCounts{}, sizeCounts{}, sizeCounts{}, sizeCounts{}}
	var in index
	c.Blocks.Errors = map[int]string{}
	for i, part := range data {
		b, err := tablestats.ReadBlock(c.f, part)
		keys.Add(b, err)
		damage := c.damage(err)
		var entries []byte
		if err == nil {
			entries = c.entries(b, sizes)
			if i == 0 || i == len(data)/2 {
				c.sample(b)
			}
		}
		c.addBlock(&in, b, entries, damage)
	}
	c.Blocks.Index, _ = json.Marshal(in) // numbers and bytes cannot fail
	if left := data[c.Blocks.Count:]; len(left) > 0 {
		from, last := left[0].Offset, left[len(left)-1]
		c.Blocks.Left = len(left)
		c.Parts = append(c.Parts, Part{Kind: "left out", Offset: from, Length: last.Offset + last.Length + format.TrailerLen - from})
	}
	c.Histograms = sizes.histograms(map[bool]string{false: "keys", true: "user keys"}[c.f.Internal])
	return keys.Stats()
}

// sample makes the first key of a block an example to look up.
func (c *collector) sample(b tablestats.Block) {
	if c.Order != "" || !b.Iter.First() {
		return
	}
	if key := c.f.FilterKey(b.Iter.Key()); key != nil && len(key) <= maxSample {
		c.Samples = append(c.Samples, bytes.Clone(key))
	}
}

// addBlock adds a block to the index. If it exceeds the limit, it and all further blocks are left out.
func (c *collector) addBlock(in *index, b tablestats.Block, entries []byte, damage string) {
	if c.held -= int64(indexBytes + len(b.Separator) + len(damage)); c.held < 0 {
		c.held = 0
		return
	}
	compression := 0
	if damage == "" {
		compression = c.compression(b.Handle, b.Compression)
	} else {
		c.Blocks.Errors[c.Blocks.Count] = damage
	}
	for i, n := range []uint64{
		b.Offset, b.Length, uint64(b.Raw), uint64(b.Entries), uint64(b.UserKeys), uint64(b.Deletions), uint64(compression), uint64(len(entries)),
	} {
		in.Columns[i] = append(in.Columns[i], n)
	}
	in.Separators = append(in.Separators, b.Separator)
	c.Blocks.Entries = append(c.Blocks.Entries, entries...)
	c.Blocks.Count++
}

// entries counts the entries of a sound block, and returns them for the page, or nil if they exceed the budget.
func (c *collector) entries(b tablestats.Block, sizes blockSizes) (all []byte) {
	c.Totals.Add(&b.Totals)
	c.Stored, c.Raw = c.Stored+int64(b.Length), c.Raw+int64(b.Raw)
	sizes.stored[int(b.Length)]++
	sizes.raw[b.Raw]++
	sizes.entries[b.Entries]++
	var keys tablestats.PrefixTracker
	for ok := b.Iter.First(); ok; ok = b.Iter.Next() {
		key, value, shared := b.Iter.Key(), b.Iter.Value(), keys.SharedLen(b.Iter)
		user := c.f.FilterKey(key)
		if user == nil {
			user = key // not an internal key
		}
		sizes.keys[len(user)]++
		sizes.values[len(value)]++
		if int64(len(all)) <= c.budget {
			all = binary.AppendUvarint(all, uint64(shared))
			all = appendBytes(all, key[shared:])
			all = binary.AppendUvarint(all, uint64(len(value)))
			all = appendBytes(all, value[:min(len(value), maxShownValue)])
		}
	}
	if int64(len(all)) > c.budget {
		return nil
	}
	c.budget -= int64(len(all))
	return all
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// A Part is a block other than a data block, the footer, or the range of data blocks that the page leaves out.
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
		c.addPart(strings.TrimSuffix(string(part.Kind()), " block"), name, part.Handle)
	}
	c.addPart("metaindex", "", l.Metaindex)
	c.addPart("index", "", l.Index)
	c.Parts = append(c.Parts, Part{Kind: "footer", Offset: uint64(l.Footer), Length: format.FooterLen, Raw: format.FooterLen})
	for _, err := range []error{err, c.f.Filters().Err} { // malformed contents can have a valid checksum
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

func (c *collector) addPart(kind, name string, h layout.Handle) {
	contents, id, err := c.f.Layout.ReadBlock(h)
	p := Part{Kind: kind, Name: name, Offset: h.Offset, Length: h.Length, Trailer: format.TrailerLen, Raw: len(contents), Error: c.damage(err)}
	if err == nil {
		p.Compression = c.compression(h, id)
	}
	c.Parts = append(c.Parts, p)
}

// compression returns the number of a block's compression in Compressions.
func (c *collector) compression(h layout.Handle, id byte) int {
	name := tablestats.Compression(c.f, h, id)
	i := slices.Index(c.Compressions, name)
	if i < 0 {
		i, c.Compressions = len(c.Compressions), append(c.Compressions, name)
	}
	return i
}

// filters adds the filters that lookups check, with their contents if they are within the limit. For a table
// without data blocks, it determines whether it is filter-only.
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
		it := c.f.Reader.NewIter(nil)
		it.First()
		err := it.Close()
		c.FilterOnly = errors.Is(err, table.ErrFilterOnly)
		if errors.Is(err, table.ErrCorrupt) {
			c.Hidden = c.damage(err)
		}
	}
}
