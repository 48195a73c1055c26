package report

import (
	"encoding/binary"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// Blocks are the data blocks in a compact form, because there can be very many.
type Blocks struct {
	Count int `json:"count"`

	// Columns has eight uvarints for each block: the gap before it, its size as stored, its
	// size decompressed, and its numbers of entries, of distinct user keys and of tombstones,
	// its compression id, and its number of bytes in Entries. For a damaged block, only the
	// first two are not zero.
	Columns []byte `json:"columns"`

	// Separators has for each block two uvarints and some bytes: how many bytes its
	// separator shares with the one before, the number of other bytes, and these bytes.
	Separators     []byte `json:"separators"`
	SeparatorBytes int    `json:"separator_bytes"` // size of all separators, uncompressed

	// Entries has the entries of the first blocks. Each has a key, encoded as a separator,
	// the length of the value, and the length and the bytes of its start.
	Entries  []byte `json:"entries"`
	Embedded int    `json:"held"` // number of blocks in Entries

	Errors map[int]string `json:"errors"` // errors of damaged blocks, by number
}

// maxShownValue is how many bytes of a value the page has.
const maxShownValue = 32

// A collector collects the Blocks.
type collector struct {
	*Model
	f             *source.File
	budget        int64  // bytes left for entries
	lastEnd       uint64 // end of the block before
	lastSeparator []byte // separator of the block before
	sizes         blockSizes
}

// blocks reads the data blocks in file order, and returns the statistics of the filters.
func (m *Model) blocks(f *source.File, budget int64, d *damageList) []tablestats.FilterStats {
	c := collector{Model: m, f: f, budget: budget, sizes: newBlockSizes()}
	keys := tablestats.NewFilterKeys(f)
	m.Blocks.Errors = map[int]string{}
	for b, err := range tablestats.Blocks(f) {
		keys.Add(b, err)
		var encoded []byte
		if err == nil {
			c.count(b)
			encoded = c.encodeEntries(b.Iter)
		} else {
			d.add(err)
			m.Blocks.Errors[m.Blocks.Count] = errorText(err)
		}
		c.add(b, encoded)
	}
	m.Histograms = c.sizes.histograms(f.Internal)
	return keys.Stats()
}

// add adds a block to the columns.
func (c *collector) add(b tablestats.Block, encoded []byte) {
	out := &c.Blocks
	out.Count++
	for _, n := range []uint64{
		b.Offset - c.lastEnd, b.Length, uint64(b.Raw), uint64(b.Entries), uint64(b.UserKeys), uint64(b.Deletions), uint64(b.Compression), uint64(len(encoded)),
	} {
		out.Columns = binary.AppendUvarint(out.Columns, n)
	}
	c.lastEnd = b.Offset + b.Length + format.TrailerLen
	out.Separators = appendKey(out.Separators, b.Separator, wire.SharedLen(c.lastSeparator, b.Separator))
	out.SeparatorBytes += len(b.Separator)
	c.lastSeparator = b.Separator
	if len(encoded) > 0 {
		out.Entries = append(out.Entries, encoded...)
		out.Embedded++
	}
}

// appendKey appends a key that shares this many bytes with the key before.
func appendKey(dst, key []byte, shared int) []byte {
	dst = binary.AppendUvarint(dst, uint64(shared))
	dst = binary.AppendUvarint(dst, uint64(len(key)-shared))
	return append(dst, key[shared:]...)
}

// count counts a sound block.
func (c *collector) count(b tablestats.Block) {
	c.compression(b.Compression)
	t := &c.Totals
	t.Entries += b.Entries
	t.Deletions += b.Deletions
	t.Stored += int64(b.Length)
	t.Raw += int64(b.Raw)
	t.Keys += b.KeyBytes
	t.Values += b.ValueBytes
	c.sizes.stored[int(b.Length)]++
	c.sizes.raw[b.Raw]++
	c.sizes.entries[b.Entries]++
	for ok := b.Iter.First(); ok; ok = b.Iter.Next() {
		c.sizes.keys[len(c.userKey(b.Iter.Key()))]++
		c.sizes.values[len(b.Iter.Value())]++
	}
}

// userKey returns the user key, or the whole key if it is not an internal key.
func (c *collector) userKey(key []byte) []byte {
	if user := c.f.FilterKey(key); user != nil {
		return user
	}
	return key
}

// encodeEntries returns the entries of a block for the page, or nil if they exceed the
// budget.
func (c *collector) encodeEntries(entries *block.Iter) []byte {
	var encoded []byte
	var keys tablestats.PrefixTracker
	for ok := entries.First(); ok; ok = entries.Next() {
		value := entries.Value()
		shown := value[:min(len(value), maxShownValue)]
		encoded = appendKey(encoded, entries.Key(), keys.SharedLen(entries))
		encoded = binary.AppendUvarint(encoded, uint64(len(value)))
		encoded = binary.AppendUvarint(encoded, uint64(len(shown)))
		encoded = append(encoded, shown...)
		if int64(len(encoded)) > c.budget {
			return nil
		}
	}
	c.budget -= int64(len(encoded))
	return encoded
}
