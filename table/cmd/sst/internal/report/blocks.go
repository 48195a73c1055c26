package report

import (
	"encoding/binary"
	"slices"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// Blocks are the data blocks in a compact form, because there can be very many.
type Blocks struct {
	Count int `json:"count"`

	// Left is how many blocks follow that the page leaves out, as their index entries would
	// exceed maxHeld.
	Left int `json:"left,omitempty"`

	// Columns has eight uvarints for each block: the gap before it, its size as stored, its
	// size decompressed, and its numbers of entries, of distinct user keys and of tombstones,
	// the number of its compression in Compressions, and its number of bytes in Entries. For a
	// damaged block, only the first two are not zero.
	Columns packed `json:"columns"`

	// Separators has for each block two uvarints and some bytes: how many bytes its
	// separator shares with the one before, the number of other bytes, and these bytes.
	Separators     packed `json:"separators"`
	SeparatorBytes int    `json:"separator_bytes"` // size of all separators, uncompressed

	// Entries has the entries of the first blocks. Each has a key, encoded as a separator,
	// the length of the value, and the length and the bytes of its start.
	Entries  packed `json:"entries"`
	Embedded int    `json:"held"` // number of blocks in Entries

	Errors map[int]string `json:"errors"` // errors of damaged blocks, by number
}

// maxShownValue is how many bytes of a value the page has.
const maxShownValue = 32

// blocks reads the data blocks in file order, and returns the statistics of the filters.
func (c *collector) blocks() []tablestats.FilterStats {
	keys := tablestats.NewFilterKeys(c.f, tablestats.NewBudget(1))
	c.Blocks.Errors = map[int]string{}
	i := 0
	for b, err := range tablestats.Blocks(c.f) {
		keys.Add(b, err)
		if err == nil {
			c.count(b)
			if i == 0 || i == len(c.f.Layout.Data)/2 {
				c.sample(b)
			}
		}
		c.damage(err)
		c.add(b, errorText(err))
		i++
	}
	if c.Blocks.Left > 0 {
		c.Parts = append(c.Parts, Part{Kind: "left out", Offset: c.end, Length: c.leftEnd - c.end})
	}
	c.Histograms = c.sizes.histograms(c.f.Internal)
	return keys.Stats()
}

// maxSample is the length of the longest example key.
const maxSample = 80

// sample takes the first key of a block for an example to look up.
func (c *collector) sample(b tablestats.Block) {
	if c.Order != "" || !b.Iter.First() {
		return
	}
	if key := c.f.FilterKey(b.Iter.Key()); key != nil && len(key) <= maxSample {
		c.Samples = append(c.Samples, append([]byte{}, key...))
	}
}

// absentSample adds an example that is not in the table, if there are others.
func (c *collector) absentSample() {
	if len(c.Samples) == 0 {
		return
	}
	absent := append(slices.Clone(c.Samples[len(c.Samples)-1]), '~')
	if _, found, err := c.f.Get(absent); err == nil && !found {
		c.Samples = append(c.Samples, absent)
	}
}

const (
	longestColumns = 8 * binary.MaxVarintLen64 // size of a block's columns at most
	maxSeparators  = 100_000_000               // SeparatorBytes at most: the page takes memory for them
)

// add adds a block to the Blocks, or leaves it out. Once one is left out, all others are.
func (c *collector) add(b tablestats.Block, damage string) {
	out := &c.Blocks
	separator := appendKey(nil, b.Separator, wire.SharedLen(c.lastSeparator, b.Separator))
	full := int64(longestColumns+len(separator)+len(damage)) > c.held || out.SeparatorBytes+len(b.Separator) > maxSeparators
	if full || out.Left > 0 {
		out.Left++
		c.leftEnd = b.Offset + b.Length + format.TrailerLen
		return
	}
	var entries []byte
	if damage == "" {
		entries = c.encodeEntries(b.Iter)
	} else {
		out.Errors[out.Count] = damage
	}
	columns := c.columns(b, entries)
	c.held -= int64(len(columns) + len(separator) + len(damage))
	out.Columns, out.Separators, out.Entries = append(out.Columns, columns...), append(out.Separators, separator...), append(out.Entries, entries...)
	out.SeparatorBytes += len(b.Separator)
	c.end = b.Offset + b.Length + format.TrailerLen
	c.lastSeparator = b.Separator
	out.Count++
	if len(entries) > 0 {
		out.Embedded++
	}
}

// columns returns the columns of a block.
func (c *collector) columns(b tablestats.Block, entries []byte) (columns []byte) {
	compression := 0
	if b.Iter != nil {
		compression = c.compression(b.Handle, b.Compression)
	}
	for _, n := range []uint64{
		b.Offset - c.end, b.Length, uint64(b.Raw), uint64(b.Entries), uint64(b.UserKeys), uint64(b.Deletions), uint64(compression), uint64(len(entries)),
	} {
		columns = binary.AppendUvarint(columns, n)
	}
	return columns
}

// appendKey appends a key that shares this many bytes with the key before.
func appendKey(dst, key []byte, shared int) []byte {
	dst = binary.AppendUvarint(dst, uint64(shared))
	dst = binary.AppendUvarint(dst, uint64(len(key)-shared))
	return append(dst, key[shared:]...)
}

// count counts a sound block.
func (c *collector) count(b tablestats.Block) {
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
func (c *collector) encodeEntries(entries *encoded.Iter) []byte {
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
