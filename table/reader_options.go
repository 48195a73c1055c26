package table

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// ReaderOptions are options of a Reader. A value out of range is an error of Open and NewReader.
type ReaderOptions struct {
	// FilterPolicies read filter blocks. The first policy whose name or alias the table lists is used. [filter.Bloom]
	// is built in.
	FilterPolicies []filter.Policy

	// TableFilterPolicies read table filters, chosen by name too. [filter.TableBloom] is built in.
	TableFilterPolicies []filter.TablePolicy

	// FilterKey is the function that the table was written with: see [WriterOptions]. It must not panic for any
	// bytes. If it is nil, the Comparer's is used if it has one, otherwise the whole key. With a wrong one,
	// lookups miss keys: a Reader of Open detects most cases ([Reader.FilterErr]), and Verify all.
	FilterKey func(key []byte) []byte

	filtersUserKeys bool // FilterKey is an InternalComparer's, which is defined for separators too

	// If IgnoreFilter is set, filters are not loaded.
	IgnoreFilter bool

	// FilterPrefixes are Prefixers for WriterOptions.FilterPrefix, chosen by name. PrefixUntil and PrefixOfLength are
	// built in. If a Prefixer is unknown, prefixes are not checked.
	FilterPrefixes []filter.Prefixer

	// Codecs decompress blocks, chosen by the block's id. [Snappy] is built in, and the module table/codecs has zstd,
	// zlib and deflate. Reading a block of another id fails with a [*CorruptionError].
	Codecs []Codec

	// Cache keeps decoded data blocks. If it is nil, each lookup reads and checks its block again.
	Cache *Cache

	// CacheKey identifies the contents of the file, for example by a number that is never reused. Readers with the
	// same CacheKey and Comparer share cached blocks, which stay after Close. If it is empty, the Reader does not
	// share them.
	CacheKey string

	// TailSum is the expected fingerprint: see [layout.Layout].TailSum. If the table has another one, opening it or, if
	// it is mapped or in memory, its first lookup fails with a [*CorruptionError]. Zero means no check. If TailSize is
	// smaller than all that follows the data blocks, the check takes more reads.
	TailSum [sha256.Size]byte

	// Name is the table's name in the errors of NewReader. Open uses the file name.
	Name string

	// MaxBlockSize is the maximum size of a block in bytes, stored and decompressed, < 4 GiB. Zero means 1 GiB, a
	// Writer's limit.
	MaxBlockSize int

	// TailSize is the number of bytes at the end of the file to read at once when opening: filters, index and footer.
	// More than 1 GiB counts as 1 GiB. Set it if reads are slow; [Writer.TailSize] returns the best one. About 1.5
	// bytes per entry and 30 bytes plus a key per data block are typical. Zero reads each part by itself, except in
	// files of up to 256 KiB.
	TailSize int

	// If Mapped is set, Open maps the file into memory, reads only the footer, and keeps no file open. Index and
	// filters are used in place unless they are compressed: write with [NoCompression]. The file is read instead on
	// Windows, or if too many files are mapped. SECURITY.md has more on files that change.
	Mapped bool

	// If SkipChecksums is set, checksums are not compared, except by Verify. Corrupt values are then not detected,
	// and corrupt filters may hide keys.
	SkipChecksums bool

	// Comparer is the order that the table was written with. Nil means [BytewiseComparer].
	Comparer Comparer

	// If Metrics is not nil, it counts the work of the Reader. Several Readers can share one.
	Metrics *Metrics

	// If OnFalsePositive is not nil, lookups call it, concurrently, for each filter key that passed a filter and was
	// not found in its data block. [filter.FalsePositives] collects the most frequent ones, for [Reader.Except].
	// filterKey is valid during the call only.
	OnFalsePositive func(filterKey []byte)
}

// set sets o to a copy of options, with defaults filled in. If options is nil, all are defaults.
func (o *ReaderOptions) set(options *ReaderOptions) error {
	*o = *cmp.Or(options, &ReaderOptions{})
	// The caller may change its slices, but the table can be opened later, and Verify opens it again.
	o.FilterPolicies, o.TableFilterPolicies = slices.Clone(o.FilterPolicies), slices.Clone(o.TableFilterPolicies)
	o.FilterPrefixes, o.Codecs = slices.Clone(o.FilterPrefixes), slices.Clone(o.Codecs)
	if most := min(uint64(math.MaxUint32), math.MaxInt-format.TrailerLen); o.MaxBlockSize < 0 || uint64(o.MaxBlockSize) > most {
		return fmt.Errorf("table: MaxBlockSize is %d, not 0 to %d", o.MaxBlockSize, most)
	}
	for _, c := range o.Codecs {
		if err := checkCodec(c); err != nil {
			return err
		}
	}
	if o.TailSize < 0 {
		return fmt.Errorf("table: TailSize is %d (minimum 0)", o.TailSize)
	}
	o.MaxBlockSize, o.Comparer = cmp.Or(o.MaxBlockSize, defaultMaxBlockSize), cmp.Or(o.Comparer, BytewiseComparer)
	o.FilterKey, o.filtersUserKeys = filterKeyFor(o.Comparer, o.FilterKey)
	return nil
}

// file returns the options of the table's file. They refer to o.
func (o *ReaderOptions) file() tablefile.Options {
	f := tablefile.Options{
		Reporter: (*reporter)(o), Order: rowblock.OrderOf(o.Comparer), Codecs: tablefile.SnappyOnly,
		MaxBlockSize: o.MaxBlockSize, TailSize: o.TailSize, SkipChecksums: o.SkipChecksums,
	}
	if len(o.Codecs) > 0 {
		f.Codecs = maps.Clone(f.Codecs)
		for _, c := range slices.Backward(o.Codecs) { // the first one of an id is used
			if c != nil {
				f.Codecs[c.ID()] = c
			}
		}
	}
	if m := o.Metrics; m != nil {
		f.Counters = &tablefile.Counters{
			BlocksRead: &m.BlocksRead, BytesRead: &m.BytesRead, PagesRead: &m.FilterPagesRead,
			CacheHits: &m.CacheHits, CacheMisses: &m.CacheMisses, CacheEvictions: &m.CacheEvictions,
		}
	}
	return f
}

// A Cache keeps decoded data blocks in memory, for Readers with [ReaderOptions].Cache. It is safe for concurrent use.
// The zero value caches nothing.
//
// It evicts blocks not used recently, and when full admits a block on its second read. It never caches blocks of
// more than 4 MiB or 16,384 entries, or blocks read for a false positive. Close of a Reader without CacheKey removes
// its blocks.
type Cache struct{ c tablefile.Cache }

// NewCache returns an empty Cache that takes up to that many bytes of memory. If bytes is <= 0, it caches nothing.
// An entry of a decoded block takes its key, its value and about 24 bytes, which can be far more than in the file.
func NewCache(bytes int64) *Cache { return &Cache{tablefile.Cache{Budget: bytes}} }

// Size returns the bytes of memory of the cached blocks.
func (c *Cache) Size() int64 {
	_, _, size := c.c.Use()
	return size
}

// Metrics count the work of lookups and iterators: set [ReaderOptions].Metrics. Opening a table, reading a data block
// to validate its filters, and Verify do not count. The zero value is ready to use. Metrics are safe for concurrent use.
type Metrics struct {
	Lookups              atomic.Uint64 // calls of Get, AppendGet, Find, AppendFind, FindGE and MayContain, and keys of GetMany
	FilterChecks         atomic.Uint64 // checks of a block filter or the table filter
	FilterNegatives      atomic.Uint64 // FilterChecks that ruled the key out
	TableFilterNegatives atomic.Uint64 // FilterNegatives of table filters, which also saved the search of the index
	FilterFalsePositives atomic.Uint64 // data blocks that passed a filter and lack the key, or for Find have only newer versions of it
	BlocksRead           atomic.Uint64 // data blocks read from the file, including failed reads
	FilterPagesRead      atomic.Uint64 // pages of paged filters read
	FilterPageErrors     atomic.Uint64 // lookups whose page could not be read or was corrupt
	BytesRead            atomic.Uint64 // bytes of BlocksRead in the file
	CacheHits            atomic.Uint64 // data blocks and filter pages found in the Cache
	CacheMisses          atomic.Uint64 // blocks and pages not in the Cache; GetMany can count a block several times
	CacheEvictions       atomic.Uint64 // blocks and pages of these Readers that the Cache evicted
}

// String returns the counts in one line.
func (m *Metrics) String() string {
	return fmt.Sprintf("%d lookups; %d filter checks, %d negative (%d by table filters), %d false positives; "+
		"%d data blocks read, %d bytes; %d filter pages read, %d errors; cache: %d hits, %d misses, %d evictions",
		m.Lookups.Load(), m.FilterChecks.Load(), m.FilterNegatives.Load(), m.TableFilterNegatives.Load(), m.FilterFalsePositives.Load(),
		m.BlocksRead.Load(), m.BytesRead.Load(), m.FilterPagesRead.Load(), m.FilterPageErrors.Load(),
		m.CacheHits.Load(), m.CacheMisses.Load(), m.CacheEvictions.Load())
}

// IterOptions are options of an Iter. The zero value iterates over all entries.
type IterOptions struct {
	// Lower and Upper, if not nil, are the bounds of the keys: Lower <= key < Upper. For internal keys, use
	// [internalkey.SearchKey] with MaxSequence.
	Lower, Upper []byte

	// FilterKey is the filter key of all wanted entries: what [ReaderOptions].FilterKey returns for their keys. Data
	// blocks whose filters rule it out are skipped. Set Lower and Upper too: entries with other filter keys may be
	// missing, and in databases and sets deleted ones may appear. If it is nil, only prefixes are checked.
	FilterKey []byte

	// Prefix limits the Iter to the keys, or user keys of internal keys, that start with it. If filters hold prefixes
	// ([WriterOptions].FilterPrefix), data blocks are skipped whose filter rules out Prefix, or the prefix shared by
	// all keys from Lower to Upper. If the order is not bytewise, or the Reader has a FilterKey of your
	// own, Prefix applies to filter keys and only skips blocks: set Lower and Upper too.
	Prefix []byte

	// If DontFillCache is set, blocks that the Iter reads are not added to the Cache.
	DontFillCache bool

	// ReadAhead is the number of bytes that Next reads at once, up to 1 GiB. Set it if reads are slow. The buffer
	// lasts until Close. If such a read fails, blocks are read one by one. If it is <= 0, each block is read by
	// itself.
	ReadAhead int

	// If OnLoss is not nil, it is called when a move reads a corrupt data block. If it returns true, the move
	// continues with the next block; otherwise it fails with l.Err. A corrupt index and I/O errors fail the move.
	// OnLoss must not use the Iter. In package merge, older versions of lost entries may then appear.
	OnLoss func(l Loss) bool
}
