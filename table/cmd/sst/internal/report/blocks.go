package report

import (
	"encoding/binary"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// Blocks are the data blocks, packed, as there may be very many of them.
type Blocks struct {
	Count int `json:"count"`

	// Columns has eight uvarints for each block: the gap before it, its length as
	// stored and its length decompressed, its entries, the users' keys that they
	// are of, and deletions, its compression, and how many bytes of Entries it has. Those of a damaged block
	// are zero but for the first two.
	Columns []byte `json:"columns"`

	// Separators has for each block, as uvarints, how many bytes its separator
	// shares with the one before and how many it does not, and these.
	Separators     []byte `json:"separators"`
	SeparatorBytes int    `json:"separator_bytes"` // of all of them, whole

	// Entries has those of the blocks that the page has room for: a key as a
	// separator is, how long the value is, and how much of it follows, and that.
	Entries  []byte `json:"entries"`
	Embedded int    `json:"held"` // blocks with entries here

	Errors map[int]string `json:"errors"` // of damaged blocks, by number
}

// maxShownValue is how much of a value the page has.
const maxShownValue = 32

// collector makes the Blocks.
type collector struct {
	*Model
	f             *source.File
	budget        int64  // bytes that entries may still take
	lastEnd       uint64 // of the block before
	lastSeparator []byte // separator before
	sizes         blockSizes
}

// blocks reads the data blocks one after the other.
func (m *Model) blocks(f *source.File, room int64, d *damageList) {
	c := collector{Model: m, f: f, budget: room, sizes: newTallies()}
	m.Blocks.Errors = map[int]string{}
	for i, part := range f.Layout.Data {
		b, entries, err := tablestats.ReadBlock(f, part)
		if err != nil {
			d.add(err)
			m.Blocks.Errors[i] = errorText(err)
		}
		var held []byte
		if err == nil {
			c.count(b, entries)
			held = c.encodeEntries(entries)
		}
		c.add(b, held)
	}
	m.Blocks.Count = len(f.Layout.Data)
	m.Histograms = c.sizes.histograms(f.Internal)
}

// add appends a block to the columns.
func (c *collector) add(b tablestats.Block, held []byte) {
	out := &c.Blocks
	for _, n := range []uint64{
		b.Offset - c.lastEnd, b.Length, uint64(b.Raw), uint64(b.Entries), uint64(b.UserKeys), uint64(b.Deletions), uint64(b.Compression), uint64(len(held)),
	} {
		out.Columns = binary.AppendUvarint(out.Columns, n)
	}
	c.lastEnd = b.Offset + b.Length + format.TrailerLen
	out.Separators = appendKey(out.Separators, b.Separator, wire.SharedLen(c.lastSeparator, b.Separator))
	out.SeparatorBytes += len(b.Separator)
	c.lastSeparator = b.Separator
	if len(held) > 0 {
		out.Entries = append(out.Entries, held...)
		out.Embedded++
	}
}

// appendKey appends a key that shares so many bytes with the one before.
func appendKey(dst, key []byte, shared int) []byte {
	dst = binary.AppendUvarint(dst, uint64(shared))
	dst = binary.AppendUvarint(dst, uint64(len(key)-shared))
	return append(dst, key[shared:]...)
}

// count counts a sound block in.
func (c *collector) count(b tablestats.Block, entries *block.Iter) {
	c.compression(b.Compression)
	t := &c.Totals
	t.Entries += b.Entries
	t.UserKeys += b.UserKeys
	t.Deletions += b.Deletions
	t.Stored += int64(b.Length)
	t.Raw += int64(b.Raw)
	t.Keys += b.KeyBytes
	t.Values += b.ValueBytes
	c.sizes.stored[int(b.Length)]++
	c.sizes.raw[b.Raw]++
	c.sizes.entries[b.Entries]++
	for ok := entries.First(); ok; ok = entries.Next() {
		c.sizes.keys[len(c.userKey(entries.Key()))]++
		c.sizes.values[len(entries.Value())]++
	}
}

// userKey is the user's part of a key, or all of one that has none.
func (c *collector) userKey(key []byte) []byte {
	if user := c.f.FilterKey(key); user != nil {
		return user
	}
	return key
}

// encodeEntries returns the block's entries for the page, or nothing if there is no room for
// all of them.
func (c *collector) encodeEntries(entries *block.Iter) []byte {
	var held []byte
	var keys tablestats.PrefixTracker
	for ok := entries.First(); ok; ok = entries.Next() {
		value := entries.Value()
		shown := value[:min(len(value), maxShownValue)]
		held = appendKey(held, entries.Key(), keys.SharedLen(entries))
		held = binary.AppendUvarint(held, uint64(len(value)))
		held = binary.AppendUvarint(held, uint64(len(shown)))
		held = append(held, shown...)
		if int64(len(held)) > c.budget {
			return nil
		}
	}
	c.budget -= int64(len(held))
	return held
}
