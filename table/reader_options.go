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

// ReaderOptions are options of a Reader. The zero value of each field is its default. A value
// out of range is an error of Open and NewReader.
type ReaderOptions struct {
	// FilterPolicies read filter blocks. The Reader uses the first policy whose name or
	// alias the table lists. filter.Bloom, the policy of LevelDB and goleveldb, need not
	// be set.
	FilterPolicies []filter.Policy

	// TableFilterPolicies read table filters, chosen by name like FilterPolicies.
	// filter.TableBloom, the policy of RocksDB and Pebble, need not be set.
	TableFilterPolicies []filter.TablePolicy

	// FilterKey returns the part of a key that the table's filters hold: its filter key. It must be the
	// function that the table was written with, a pure function of key's bytes, and safe for concurrent
	// use. It must not modify or keep key, and must not panic, whatever the bytes are. If it is nil, that of
	// the Comparer is used if that is a FilterKeyer, as InternalComparer is, and else the whole key.
	//
	// With a wrong FilterKey lookups miss keys. Open notices that in most cases: see FilterErr. Verify
	// reports it.
	FilterKey func(key []byte) []byte

	// FilterPrefixes are the Prefixers that the Reader knows. It uses the first one with the name that the
	// table stores. PrefixUntil and PrefixOfLength need not be set. If the Reader does not know the
	// Prefixer, it ignores prefixes, and looks up keys as usual.
	FilterPrefixes []filter.Prefixer

	// If IgnoreFilter is set, the Reader does not load filters.
	IgnoreFilter bool

	// If NarrowExceptions is set, policies may narrow the filters of tables that were written with Never
	// too. Keys of Never can then be false positives, except those that are stored as exceptions. By
	// default, the filters of these tables are read as they are.
	NarrowExceptions bool

	// Codecs decompress blocks. The Reader uses the first one with the id of the block. Snappy need not be
	// set. The module table/codecs has zstd, zlib and deflate. If no Codec has the id of a block, reading it
	// fails with a CorruptionError. Id 0 means uncompressed, and a Codec with that id is an error.
	Codecs []Codec

	// Cache keeps data blocks in memory, for this and other Readers. If it is nil, every lookup reads and
	// checks its block again.
	Cache *Cache

	// CacheKey names the contents of the file for the Cache: a number that the engine never gives to
	// another file, or a checksum. Readers with the same CacheKey and Comparer share blocks, which stay in
	// the Cache after Close. If two files with different contents have the same CacheKey, lookups can
	// return values of the wrong file. If CacheKey is empty, the Reader does not share blocks, and Close
	// removes them.
	CacheKey string

	// TailSum is the fingerprint of the table: see [layout.Layout].TailSum. If the table has another one, opening it
	// fails with a CorruptionError of the footer, as does Verify. Readers share cached blocks only if their
	// TailSums are equal. Comparing takes a read of 5 bytes for each block of the tail outside TailSize. If
	// TailSum is zero, it is not compared.
	TailSum [sha256.Size]byte

	// Name is the name of the table in the errors of a Reader from NewReader. Open uses the name of the file
	// instead.
	Name string

	// MaxBlockSize is the most bytes of a block, stored or decompressed, < 4 GiB. Reading a larger block fails
	// with a CorruptionError. Zero means 1 GiB, which is the most that a Writer writes.
	MaxBlockSize int

	// TailSize is how many bytes at the end of the file Open and NewReader read at once: the file's tail has
	// filters, metaindex, index and footer. Parts outside these bytes take a read each. Set it if each read
	// has a high latency, as from an object store. The memory is freed when the table is open. At most 1 GiB
	// is read. If TailSize is zero, each part is read by itself, but for files of up to 256 KiB Open reads
	// 8 KiB at once.
	//
	// With 10 filter bits per key, the parts take about 1.5 bytes for each entry, plus 30
	// bytes and the length of a key for each data block. For small values that is 2 to 3
	// bytes for each entry, and for values of 1000 bytes it is about 10.
	TailSize int

	// If Mapped is set, Open maps the file into memory. The Reader then holds no open file. The file is still
	// read on Windows, if it does not fit into the address space, or if half as many files are mapped as Linux
	// allows a process (vm.max_map_count, 65,530 by default). A closed file counts until it is unmapped. Open
	// loads only the footer of a mapped file: to check that index and filters can be read, such as before the
	// table replaces another, call FilterErr. OpenFS ignores Mapped; for NewReader there is MapFile. Opening
	// takes a few microseconds more, which about ten lookups of the Reader win back.
	//
	// Index and filters are used where they lie, if they are not compressed. A lookup copies its data
	// block before it compares the checksum, since the file could be cut after that. Lookups with
	// SkipChecksums use the block where it lies. A compressed index is decompressed
	// into memory, as compressed data blocks are, and many lookups add a search tree of the index:
	// write tables that are to be mapped with NoCompression, or give the Reader memory for both.
	// Lookups in cached blocks compare no checksum.
	//
	// If another program cuts the file, lookups and Iters return an error when they come to what is
	// not there any more. What the last page lacks reads as zeros. In a data block a checksum shows
	// that, but an index or a filter there denies keys. If the program writes to the file, answers can
	// be wrong. The filters from Filters are parts of the file: to use them when the file was cut, or
	// after Close, is a fault of the program. The file is unmapped when Close was called, or the
	// Reader was dropped, and nothing uses it any more.
	Mapped bool

	// If SkipChecksums is set, the Reader does not compare the checksums of blocks. It still checks their
	// form, but corrupt values are not noticed, and corrupt bits of a filter can hide keys. TailSum then says
	// which checksums the table has, not that its blocks match them. Cached blocks are shared only with
	// Readers that skip checksums too. Verify compares them in any case.
	SkipChecksums bool

	// Comparer is the order of the keys: the one that the table was written with. Nil means
	// BytewiseComparer.
	Comparer Comparer

	// If Metrics is not nil, it counts what the Reader does. Several Readers can share one.
	Metrics *Metrics

	// If OnFalsePositive is not nil, lookups call it for each filter key that a filter reports and the table does
	// not have: WriterOptions.Never or Reader.Except can end such false positives. The lookup must have searched a
	// data block, so MayContain and tables with a filter only do not call it. With a FilterKey of your own, the table
	// may have other keys of that filter key. Lookups of several goroutines call it at the same time. filterKey is
	// valid during the call only. A [FalsePositives] keeps the most frequent ones.
	OnFalsePositive func(filterKey []byte)

	filtersUserKeys bool // FilterKey is that of an InternalComparer, and can be asked for separators
}

// set sets o to a copy of options, with defaults filled in. If options is nil, all are defaults.
func (o *ReaderOptions) set(options *ReaderOptions) error {
	if options != nil {
		*o = *options
	}
	if most := min(uint64(math.MaxUint32), math.MaxInt-format.TrailerLen); o.MaxBlockSize < 0 || uint64(o.MaxBlockSize) > most {
		return fmt.Errorf("table: MaxBlockSize is %d, want 0 to %d", o.MaxBlockSize, most)
	}
	for _, c := range o.Codecs {
		if err := checkCodec(c); err != nil {
			return err
		}
	}
	if o.TailSize < 0 {
		return fmt.Errorf("table: TailSize is %d, want 0 or more", o.TailSize)
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
