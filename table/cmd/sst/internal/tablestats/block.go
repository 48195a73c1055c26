// Package tablestats collects statistics about a table's blocks, entries and filters.
package tablestats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/codecs"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// A Block describes a data block. If the block is damaged, only IndexEntry is set.
type Block struct {
	layout.IndexEntry      // separator and handle
	Compression       byte // compression id
	Raw               int  // size after decompression
	UserKeys          int  // number of distinct user keys; for plain keys the same as Entries
	growing           int  // Raw without the last entry: the size at which the block was not complete yet
	Totals

	Iter *rowblock.Iter // goes through the entries; nil if the block is damaged
}

// Totals are sums over the entries of a block or of a table.
type Totals struct {
	Entries       int   `json:"entries"`
	Deletions     int   `json:"deletions"`
	KeyBytes      int64 `json:"key_bytes"`        // size of all keys, uncompressed
	KeyShared     int64 `json:"key_shared_bytes"` // bytes that are shared with the key before, and so not stored
	ValueBytes    int64 `json:"value_bytes"`
	LongestValue  int   `json:"longest_value_bytes"`
	RestartPoints int   `json:"restart_points"`

	KeySizes   Histogram `json:"key_sizes"` // of keys without sequence number and kind
	ValueSizes Histogram `json:"value_sizes"`
}

// Add adds the entries of another block.
func (t *Totals) Add(b *Totals) {
	t.Entries += b.Entries
	t.Deletions += b.Deletions
	t.KeyBytes += b.KeyBytes
	t.KeyShared += b.KeyShared
	t.ValueBytes += b.ValueBytes
	t.LongestValue = max(t.LongestValue, b.LongestValue)
	t.RestartPoints += b.RestartPoints
	t.KeySizes.Join(&b.KeySizes)
	t.ValueSizes.Join(&b.ValueSizes)
}

// ReadBlock reads and checks a data block.
func ReadBlock(f *dbfile.File, part layout.IndexEntry) (Block, error) {
	b := Block{IndexEntry: part}
	it, raw, compression, err := f.OpenDataBlock(part.Handle, f.Comparer())
	if err != nil {
		return b, err
	}
	b.Compression, b.Raw, b.Iter, b.RestartPoints = compression, raw, it, it.NumRestarts()
	b.count(f.Internal)
	return b, nil
}

// count counts the entries.
func (b *Block) count(internal bool) {
	var keys PrefixTracker
	last := 0 // offset of the last entry
	for ok := b.Iter.First(); ok; ok = b.Iter.Next() {
		last = b.Iter.Offset()
		key, value, before := b.Iter.Key(), b.Iter.Value(), len(keys.lastKey)
		shared, user := keys.SharedLen(b.Iter), key
		if internal {
			k, _ := internalkey.Parse(key)
			if user = k.UserKey; k.Kind == internalkey.Delete {
				b.Deletions++
			}
		}
		if sameUser := b.Entries > 0 && len(key) == before && shared >= len(user); !internal || !sameUser {
			b.UserKeys++
		}
		b.Entries++
		b.KeyBytes += int64(len(key))
		b.KeyShared += int64(b.Iter.Shared())
		b.KeySizes.Add(len(user))
		b.ValueBytes += int64(len(value))
		b.ValueSizes.Add(len(value))
		b.LongestValue = max(b.LongestValue, len(value))
	}
	if b.Entries > 0 {
		b.growing = b.Raw - (b.Iter.Offset() - last)
	}
}

// A PrefixTracker determines how many bytes adjacent keys of a block share. Its work is proportional to the stored
// bytes of the block, not to the shared bytes.
type PrefixTracker struct{ lastKey []byte }

// SharedLen returns the number of bytes that the current key of it shares with the key before. Keys at restart
// points are stored whole, so they are compared.
func (k *PrefixTracker) SharedLen(it *rowblock.Iter) (shared int) {
	key := it.Key()
	if shared = it.Shared(); shared == 0 {
		shared = format.SharedLen(k.lastKey, key)
	}
	k.lastKey = append(k.lastKey[:shared], key[shared:]...)
	return shared
}

// Compression returns the name of the compression of a block.
func Compression(f *dbfile.File, h layout.Handle, id byte) string {
	var start [4]byte
	if id == codecs.Zstd.ID() {
		f.Src.ReadAt(start[:], int64(h.Offset)) // unreadable bytes are not zstd
	}
	return CompressionOf(id, start[:])
}

// CompressionOf returns the name of the compression of a block that begins with start. Id 2 means zlib or, if the
// block begins with its magic number, zstd.
func CompressionOf(id byte, start []byte) string {
	if id == codecs.Zstd.ID() && codecs.IsZstd(start) {
		return "zstd"
	}
	return cmp.Or(compressionNames[id], "unknown")
}

// compressionNames are the names of compressions by id, except zstd.
var compressionNames = map[byte]string{
	table.NoCompression.ID(): "none", table.Snappy.ID(): "snappy", codecs.Deflate.ID(): "deflate", codecs.Zlib.ID(): "zlib",
}

// An Estimate infers the settings of a table's Writer from the data blocks. With these settings, a Writer completes
// blocks and places restart points as in the table.
type Estimate struct {
	// Smallest is the uncompressed size of the smallest data block, except the last one, which can be smaller than
	// the block size. 0: there is only the last block.
	Smallest int

	// Growing is the largest size of a block without its last entry: such a block was not complete yet.
	Growing int

	// FewestPerRestart and MostPerRestart are the smallest and largest restart intervals that agree with the
	// numbers of restart points. MostPerRestart is 0 if no block has two of them.
	FewestPerRestart, MostPerRestart int
}

// BlockSize returns the block size recorded in p, which may be nil. If there is none, it returns one that results in
// these blocks: a power of two if possible, and otherwise Smallest. It is 0 if there is only the last block.
func (e *Estimate) BlockSize(p *layout.Properties) uint64 {
	if p != nil && p.BlockSize > 0 {
		return p.BlockSize
	}
	if power := 1 << bits.Len(uint(e.Smallest)) >> 1; power > e.Growing {
		return uint64(power)
	}
	return uint64(e.Smallest)
}

// RestartInterval returns the restart interval recorded in p, which may be nil. If there is none, it returns the
// engines' default if that agrees with the restart points, and otherwise FewestPerRestart.
func (e *Estimate) RestartInterval(p *layout.Properties) int {
	const byDefault = 16
	if p != nil && p.RestartInterval > 0 {
		return int(min(p.RestartInterval, math.MaxInt32)) // the file can contain any number
	}
	if e.FewestPerRestart <= byDefault && (e.MostPerRestart == 0 || byDefault <= e.MostPerRestart) {
		return byDefault
	}
	return e.FewestPerRestart
}

// Add adds an undamaged block. last must be true for the last block of the table.
func (e *Estimate) Add(b Block, last bool) {
	if !last && (e.Smallest == 0 || b.Raw < e.Smallest) {
		e.Smallest = b.Raw
	}
	e.Growing = max(e.Growing, b.growing)
	if n := b.RestartPoints; n > 0 {
		e.FewestPerRestart = max(e.FewestPerRestart, (b.Entries+n-1)/n)
	}
	if n := b.RestartPoints; n > 1 {
		most := max(1, (b.Entries-1)/(n-1))
		e.MostPerRestart = min(cmp.Or(e.MostPerRestart, most), most)
	}
}

// A Histogram counts sizes in ranges: 0, 1, 2 to 3, 4 to 7, and so on. The last count includes all larger sizes.
type Histogram [33]uint64

// Add counts a size ≥ 0.
func (h *Histogram) Add(size int) { h[min(bits.Len(uint(size)), len(h)-1)]++ }

// Join adds the counts of another Histogram.
func (h *Histogram) Join(o *Histogram) {
	for i := range h {
		h[i] += o[i]
	}
}

// String returns the ranges that occur, with their percentages, on one line.
func (h Histogram) String() string {
	all := uint64(0)
	for _, n := range h {
		all += n
	}
	var parts []string
	for i, n := range h {
		if n > 0 {
			parts = append(parts, label(i)+": "+share(n, all))
		}
	}
	return strings.Join(parts, ", ")
}

// share formats n of all as a percentage. Only all is shown as 100 %, and a small part is not shown as 0.
func share(n, all uint64) string {
	percent := 100 * float64(n) / float64(all)
	switch {
	case n == all:
		return "100 %"
	case percent < 0.1:
		return "< 0.1 %"
	case percent > 99.9:
		return "> 99.9 %"
	}
	return fmt.Sprintf("%.1f %%", percent)
}

// bounds returns the smallest and the largest size in range i.
func bounds(i int) (from, to uint64) { return 1 << i >> 1, 1<<i - 1 }

// label names the sizes in range i. In units larger than bytes, the second number is exclusive.
func label(i int) string {
	from, to := bounds(i)
	if i < 2 {
		return fmt.Sprintf("%d B", from)
	}
	if from < 1<<10 {
		return fmt.Sprintf("%d-%d B", from, to)
	}
	power := (i - 1) / 10 // of 1024
	unit := uint64(1) << (10 * power)
	return fmt.Sprintf("%d-%d %ciB", from/unit, (to+1)/unit, " KMG"[power])
}

// A count is a count of a Histogram in JSON.
type count struct {
	From    uint64 `json:"from"`
	To      uint64 `json:"to"`
	Entries uint64 `json:"entries"`
}

// MarshalJSON returns the counts that are not 0.
func (h Histogram) MarshalJSON() ([]byte, error) {
	all := []count{}
	for i, n := range h {
		if from, to := bounds(i); n > 0 {
			all = append(all, count{from, to, n})
		}
	}
	return json.Marshal(all)
}
