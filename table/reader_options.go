package table

import (
	"crypto/sha256"
	"fmt"
	"math"

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
	// bytes. If it is nil, the Comparer's is used if that is a [FilterKeyer], otherwise the whole key. With a wrong
	// one, lookups miss keys: Open detects most cases ([Reader.FilterErr]), and Verify all.
	FilterKey func(key []byte) []byte

	// FilterPrefixes are Prefixers for WriterOptions.FilterPrefix, chosen by name. PrefixUntil and PrefixOfLength are
	// built in. If a Prefixer is unknown, prefixes are not checked.
	FilterPrefixes []filter.Prefixer

	// If IgnoreFilter is set, filters are not loaded.
	IgnoreFilter bool

	// If NarrowExceptions is set, policies may also narrow filters written with [WriterOptions].Never. Keys of Never
	// can then be false positives.
	NarrowExceptions bool

	// Codecs decompress blocks, chosen by the block's id. [Snappy] is built in, and the module table/codecs has zstd,
	// zlib and deflate. Reading a block of another id fails with a [*CorruptionError].
	Codecs []Codec

	// Cache keeps decoded data blocks. If it is nil, each lookup reads and checks its block again.
	Cache *Cache

	// CacheKey identifies the contents of the file, for example by a number that is never reused. Readers with the
	// same CacheKey and Comparer share cached blocks, which stay after Close. If it is empty, the Reader does not
	// share them.
	CacheKey string

	// TailSum is the expected fingerprint: see [layout.Layout].TailSum. If the table has another one, opening it
	// fails with a [*CorruptionError]. Zero means no check. The check reads 5 bytes per block of the tail outside
	// TailSize.
	TailSum [sha256.Size]byte

	// Name is the table's name in the errors of NewReader. Open uses the file name.
	Name string

	// MaxBlockSize is the maximum size of a block in bytes, stored and decompressed, < 4 GiB. Zero means 1 GiB, a
	// Writer's limit.
	MaxBlockSize int

	// TailSize is the number of bytes at the end of the file to read at once when opening, up to 1 GiB: filters,
	// index and footer. Set it if reads are slow; [Writer.TailSize] returns the best one. About 1.5 bytes per entry
	// and 30 bytes plus a key per data block are typical. Zero reads each part by itself, except in files of up to
	// 256 KiB.
	TailSize int

	// If Mapped is set, Open maps the file into memory, reads only the footer, and keeps no file open. Index and
	// filters are used in place unless they are compressed: write with [NoCompression]. The file is read instead on
	// Windows, or if too many files are mapped. See [MapFile] for NewReader, and the README for files that change.
	Mapped bool

	// If SkipChecksums is set, checksums are not compared, except by Verify. Corrupt values are then not detected,
	// and corrupt filters may hide keys.
	SkipChecksums bool

	// Comparer is the order that the table was written with. Nil means [BytewiseComparer].
	Comparer Comparer

	// If Metrics is not nil, it counts the work of the Reader. Several Readers can share one.
	Metrics *Metrics

	// If OnFalsePositive is not nil, lookups call it, concurrently, for each filter key that passed a filter and was
	// not found in its data block. [FalsePositives] collects the most frequent ones, for [Reader.Except]. filterKey
	// is valid during the call only.
	OnFalsePositive func(filterKey []byte)

	filtersUserKeys bool // FilterKey is that of an InternalComparer, and can be asked for separators
}

// set sets o to a copy of options, with defaults filled in. If options is nil, all are defaults.
func (o *ReaderOptions) set(options *ReaderOptions) error {
	if options != nil {
		*o = *options
	}
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
	if o.MaxBlockSize == 0 {
		o.MaxBlockSize = defaultMaxBlockSize
	}
	if o.Comparer == nil {
		o.Comparer = BytewiseComparer
	}
	o.filtersUserKeys = o.FilterKey == nil && filtersUserKeys(o.Comparer)
	o.FilterKey = filterKeyFor(o.Comparer, o.FilterKey)
	return nil
}

// setFile sets f, the zero value, to the options of the table's file. They refer to o.
func (o *ReaderOptions) setFile(f *tablefile.Options) {
	f.Reporter, f.Order = (*reporter)(o), rowblock.OrderOf(o.Comparer)
	f.MaxBlockSize, f.TailSize, f.SkipChecksums = o.MaxBlockSize, o.TailSize, o.SkipChecksums
	for _, c := range o.Codecs {
		if c != nil {
			f.Codecs = append(f.Codecs, c)
		}
	}
	if m := o.Metrics; m != nil {
		f.Counters = &tablefile.Counters{
			BlocksRead: &m.BlocksRead, BytesRead: &m.BytesRead, PagesRead: &m.FilterPagesRead,
			CacheHits: &m.CacheHits, CacheMisses: &m.CacheMisses, CacheEvictions: &m.CacheEvictions,
		}
	}
}
