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

	// FilterKey returns the part of a key that the table's filters hold: its filter key. It must be
	// the same function that the table was written with. It must not change or keep key. It must
	// not panic: a file can have keys of any bytes. It must be safe for concurrent use. It must be
	// a pure function of key's bytes. nil: that of the Comparer if it is a FilterKeyer, as
	// InternalComparer is, else the whole key.
	//
	// With a wrong FilterKey lookups miss keys. Open notices that in most cases: see
	// FilterErr. Verify reports it.
	FilterKey func(key []byte) []byte

	// FilterPrefixes are the functions of WriterOptions.FilterPrefix that the Reader knows. It uses the
	// first one that has the name that the table stores. PrefixUntil and PrefixOfLength need not be
	// set. The prefixes of another function are not used, and keys are looked up as ever.
	FilterPrefixes []Prefixer

	// IgnoreFilter makes the Reader neither read nor check filters.
	IgnoreFilter bool

	// Codecs decompress blocks. The Reader uses the first one that has the id of the
	// block. Snappy need not be set. The module table/codecs has zstd, zlib and deflate.
	// A block whose id no Codec has is a CorruptionError. Id 0 means uncompressed, and a
	// Codec with that id is an error.
	Codecs []Codec

	// Cache keeps data blocks in memory, for this and other Readers. nil: every lookup
	// reads and checks its block again.
	Cache *Cache

	// CacheKey names the contents of the file, for the Cache: a number that the engine never
	// gives to another file, or a checksum. Readers with the same CacheKey and Comparer share
	// their blocks in the Cache, and these stay there when the Readers are closed, for one
	// that is opened again. If files with other contents have the same CacheKey, lookups can
	// return the values of the wrong file. "": the Reader has blocks of its own, which
	// Close removes.
	CacheKey string

	// TailSum is what Layout.TailSum has returned for the table. Another one is a CorruptionError
	// of the footer: of Open, NewReader and Verify, or of the first use of a mapped file or a
	// SliceReaderAt. Readers share cached blocks only if their TailSum is the same. To compare it
	// takes a read of 5 bytes for each block of the tail that is not within TailSize. Zeros: it is
	// not compared.
	TailSum [sha256.Size]byte

	// Name is the name of the table in the errors of a Reader from NewReader. Open uses the
	// name of the file in its place. "": errors name no table.
	Name string

	// MaxBlockSize is the most bytes of a block, stored or decompressed, < 4 GiB. A larger
	// block is a CorruptionError. 0: 1 GiB, which is the most that a Writer writes.
	MaxBlockSize int

	// TailSize is how many bytes at the end of the file Open and NewReader read at once.
	// Filters, metaindex, index and footer are there. What is within these bytes takes a
	// single read; each other part takes a read of its own. Set it if each read has a
	// high latency, as from an object store. The memory is freed when the table is open.
	// A value larger than the file reads all of it, but ≤ 1 GiB. 0: each part is read by
	// itself, but of files of up to 256 KiB Open reads 8 KiB at once.
	//
	// With 10 filter bits per key, the parts take about 1.5 bytes for each entry, plus 30
	// bytes and the length of a key for each data block. For small values that is 2 to 3
	// bytes for each entry, and for values of 1000 bytes it is about 10.
	TailSize int

	// Mapped makes Open map the file into memory, in place of reading it. It is still read on Windows,
	// if it does not fit into the address space, or if as many are mapped as half of what Linux allows
	// a process (vm.max_map_count, 65,530 by default). A closed file counts until it is unmapped. Of a
	// mapped file Open reads the footer only: to see whether index and filters can be read, such as
	// before the table replaces another, call FilterErr. Memory that is mapped is the system's page
	// cache. The Reader holds no open file. OpenFS ignores Mapped; for NewReader there is MapFile.
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

	// SkipChecksums makes the Reader ignore the checksums of blocks. It still checks their
	// form, but damaged values are not noticed, and damaged bits of a filter can hide keys. TailSum
	// then tells what checksums the table has, and not that its blocks fit them. Cached blocks are
	// shared only with Readers that ignore checksums too. Verify checks them in any case.
	SkipChecksums bool

	// Comparer is the order of the keys. It must be the one that the table was written
	// with. nil: BytewiseComparer.
	Comparer Comparer

	// Metrics counts what the Reader does. Several Readers can share one. nil: nothing is
	// counted.
	Metrics *Metrics

	filtersUserKeys bool // FilterKey is that of an InternalComparer, and can be asked for separators
}

// withDefaults returns a copy with defaults filled in.
func (o *ReaderOptions) withDefaults() (ReaderOptions, error) {
	var r ReaderOptions
	if o != nil {
		r = *o
	}
	if most := min(uint64(math.MaxUint32), math.MaxInt-format.TrailerLen); r.MaxBlockSize < 0 || uint64(r.MaxBlockSize) > most {
		return r, fmt.Errorf("table: MaxBlockSize is %d, want 0 to %d", r.MaxBlockSize, most)
	}
	for _, c := range r.Codecs {
		if err := checkCodec(c); err != nil {
			return r, err
		}
	}
	if r.TailSize < 0 {
		return r, fmt.Errorf("table: TailSize is %d, want 0 or more", r.TailSize)
	}
	if r.MaxBlockSize == 0 {
		r.MaxBlockSize = defaultMaxBlockSize
	}
	if r.Comparer == nil {
		r.Comparer = BytewiseComparer
	}
	r.filtersUserKeys = r.FilterKey == nil && filtersUserKeys(r.Comparer)
	r.FilterKey = filterKeyFor(r.Comparer, r.FilterKey)
	return r, nil
}

// fileOptions returns the options of the table's file. They refer to o.
func (o *ReaderOptions) fileOptions() tablefile.Options {
	f := tablefile.Options{
		Reporter: (*reporter)(o), Order: rowblock.Order(BlockOrder(o.Comparer)),
		MaxBlockSize: o.MaxBlockSize, TailSize: o.TailSize, SkipChecksums: o.SkipChecksums,
	}
	for _, c := range o.Codecs {
		if c != nil {
			f.Codecs = append(f.Codecs, c)
		}
	}
	if m := o.Metrics; m != nil {
		f.Counters = &tablefile.Counters{
			BlocksRead: &m.BlocksRead, BytesRead: &m.BytesRead,
			CacheHits: &m.CacheHits, CacheMisses: &m.CacheMisses, CacheEvictions: &m.CacheEvictions,
		}
	}
	return f
}
