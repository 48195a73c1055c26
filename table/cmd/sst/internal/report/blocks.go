package report

import (
	"encoding/binary"
	"slices"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// Blocks are the data blocks in a compact form, because there can be very many.
type Blocks struct {
	Count int `json:"count"`

	// Left is how many blocks follow that the page leaves out, as their index entries would
	// exceed maxHeld.
	Left int `json:"left,omitempty"`

	Index   index  `json:"index"`
	Entries packed `json:"entries"`

	Embedded int            `json:"held"`   // number of blocks in Entries
	Errors   map[int]string `json:"errors"` // errors of damaged blocks, by number
}

// An index has what is known of each block without its entries.
type index struct {
	// Columns are offset, size as stored, size decompressed, the numbers of entries, of distinct user
	// keys and of tombstones, the number of the compression in Compressions, and the number of bytes in
	// Entries. For a damaged block, only the first two are not zero.
	Columns    [8][]uint64
	Separators [][]byte
}

func (i index) MarshalJSON() ([]byte, error) {
	type plain index
	return packJSON(plain(i))
}

// Entries of blocks have a key, as the number of bytes that it shares with the one before, the number
// of other bytes, and these bytes; the length of the value; and the length and the bytes of its start.

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

// indexBytes is about what a block takes in the page beside its separator.
const indexBytes = 10

// add adds a block to the Blocks, or leaves it out. Once one is left out, all others are.
func (c *collector) add(b tablestats.Block, damage string) {
	out := &c.Blocks
	size := int64(indexBytes + len(b.Separator) + len(damage))
	if size > c.held || out.Left > 0 {
		out.Left++
		c.leftEnd = b.Offset + b.Length + format.TrailerLen
		return
	}
	c.held -= size
	c.end = b.Offset + b.Length + format.TrailerLen
	var entries []byte
	compression := 0
	if damage == "" {
		entries, compression = c.encodeEntries(b.Iter), c.compression(b.Handle, b.Compression)
	} else {
		out.Errors[out.Count] = damage
	}
	for i, n := range []uint64{
		b.Offset, b.Length, uint64(b.Raw), uint64(b.Entries), uint64(b.UserKeys), uint64(b.Deletions), uint64(compression), uint64(len(entries)),
	} {
		out.Index.Columns[i] = append(out.Index.Columns[i], n)
	}
	out.Index.Separators = append(out.Index.Separators, b.Separator)
	out.Entries = append(out.Entries, entries...)
	out.Count++
	if len(entries) > 0 {
		out.Embedded++
	}
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
func (c *collector) encodeEntries(entries *encoded.Iter) (all []byte) {
	var keys tablestats.PrefixTracker
	for ok := entries.First(); ok; ok = entries.Next() {
		key, value, shared := entries.Key(), entries.Value(), keys.SharedLen(entries)
		all = binary.AppendUvarint(all, uint64(shared))
		all = appendBytes(all, key[shared:])
		all = binary.AppendUvarint(all, uint64(len(value)))
		all = appendBytes(all, value[:min(len(value), maxShownValue)])
		if int64(len(all)) > c.budget {
			return nil
		}
	}
	c.budget -= int64(len(all))
	return all
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}
