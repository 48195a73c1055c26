package table

import (
	"errors"
	"fmt"
	"iter"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// defaultMaxBlockSize is the most bytes of a block that a Writer writes, and the default of
// MaxBlockSize.
const defaultMaxBlockSize = 1 << 30

// WriterOptions are options of a Writer. The zero value of each field is its default.
// Create and NewWriter return an error for a value out of range.
type WriterOptions struct {
	// FilterPolicy builds the filter block, usually filter.NewBloom(10). The table lists
	// the block under the policy's name and its aliases: see filter.Policy. A name has at
	// most 1 KiB. If it is nil, the table has no filter block.
	FilterPolicy filter.Policy

	// TableFilterPolicy builds one filter of all keys of the table, usually
	// filter.NewTableBloom(10). Lookups check it before they search the index. LevelDB and
	// goleveldb ignore it. A table can have a filter block too. The filter takes memory
	// for each key until Close. If it is nil, the table has no table filter.
	TableFilterPolicy filter.TablePolicy

	// Never yields keys that must not be false positives of the table filter, such as an
	// allowlist beside a blocklist. Those that are get stored beside the filter, as
	// exceptions, and Reader.MayContain is then false for each key of Never. The exceptions
	// take memory and space, the other keys do not. Readers never narrow the filter, even
	// without exceptions: see ReaderOptions.NarrowExceptions. LevelDB, goleveldb and Pebble ignore
	// the exceptions. RocksDB treats their block as that of DataDigest. Reader.Except adds
	// exceptions to a table that is written already.
	//
	// Keys come in the order of the Comparer, and may repeat. Never runs twice, during
	// Append and in Close, and must yield the same keys. If it yields an error, the Writer
	// fails. It may reuse a slice that it has yielded. If a key is appended too, Append
	// returns an error that wraps ErrNever and names it. Never needs a TableFilterPolicy, a
	// Comparer other than AnyOrder, and keys that have a filter key. The Writer must be
	// ended by Close or Abort.
	//
	// Keys with the same filter key must be neighbors in the order, as they are with an
	// InternalComparer. With a FilterKey that breaks this rule, lookups can miss keys. Verify
	// reports them.
	Never iter.Seq2[[]byte, error]

	// FilterKey returns the part of a key that filters hold: its filter key. It must not
	// modify or keep key. It may reuse the memory of its last result. If it returns
	// nil, filters do not hold the key, and Readers with the same FilterKey check no
	// filter for it. If FilterKey is nil, that of a Comparer that is a FilterKeyer is used, or
	// the whole key.
	FilterKey func(key []byte) []byte

	// FilterPrefix adds the prefix of each filter key to the filters, for
	// IterOptions.Prefix. A prefix takes as much space as a key: once in the table
	// filter, and once in each filter of the filter block that has keys of the
	// prefix. The false-positive rate of lookups stays the same. Other engines use the
	// filters as before. FilterPrefix needs a FilterPolicy or a TableFilterPolicy, and sets
	// Properties, which name the function. If it is nil, filters hold no prefixes.
	FilterPrefix filter.Prefixer

	// FilterBaseLg is the base-2 logarithm of the number of bytes of the file that share
	// one filter in the filter block, 1 to 30. Zero means 11, for 2 KiB.
	FilterBaseLg int

	// Properties adds a properties block to the table: see [layout.Properties]. Pebble >= 2.1.5
	// reads only tables that have one. RocksDB up to 10.x ingests (IngestExternalFile) a table
	// with properties and an InternalComparer if all sequence numbers are 0, each user key
	// comes once, and the TableFilterPolicy, if there is one, filters user keys. RocksDB
	// 11.0 and later refuse LevelDB's format. LevelDB and goleveldb ignore the properties.
	Properties bool

	// DataDigest adds a digest block to the table, of about 60 bytes: the SHA-256 of the
	// compression ids and checksums of all data blocks. With it, tables with the same keys and
	// different values have different TailSums. LevelDB, goleveldb and Pebble ignore it.
	// RocksDB's sst_dump aborts at it if it was built with assertions.
	DataDigest bool

	// FilterOnly writes a table with a table filter and Properties, but without keys and
	// values. Append then accepts no values. A Reader of the table supports MayContain. Its
	// Get and Find return ErrNotFound if the filter rules the key out, and ErrFilterOnly
	// otherwise. Other engines see an empty table, so use a file extension that they
	// do not know. FilterOnly needs a TableFilterPolicy and excludes a FilterPolicy.
	FilterOnly bool

	// BlockSize is the size of a data block before compression, in bytes, at most 512 MiB. The
	// entry that reaches it completes the block. Larger blocks take less memory in a
	// Reader, but a lookup that is not cached reads and decompresses a whole block. Zero
	// means 4096.
	BlockSize int

	// RestartInterval is the number of entries between restart points of a data block, or
	// fewer: see block.NewWriter. Zero means 16.
	RestartInterval int

	// Compression compresses data blocks and the index. A block that shrinks by less than an
	// eighth is stored uncompressed. If it is nil, Snappy is used.
	Compression Codec

	// Comparer is the order of the keys. If it is nil, BytewiseComparer is used.
	Comparer Comparer

	// Concurrency is the number of goroutines that compress data blocks, 1 to 1024. Zero means
	// 1, the caller's goroutine. The bytes of the file do not depend on it.
	//
	// With 2 or more, the blocks are compressed while the caller's goroutine goes on, which
	// is faster for compressed tables of several MB if a core is free. Each goroutine takes
	// about 1 MiB of memory, or a few blocks if these are larger. Append may then
	// report a write error several hundred KiB later. Close reports it in any case.
	Concurrency int
}

// withDefaults returns a copy with defaults filled in.
func (o *WriterOptions) withDefaults() (WriterOptions, error) {
	var w WriterOptions
	if o != nil {
		w = *o
	}
	for _, n := range []struct {
		name      string
		value     *int
		def, most int
	}{
		{"FilterBaseLg", &w.FilterBaseLg, filter.DefaultBaseLg, 30},
		{"BlockSize", &w.BlockSize, 4096, defaultMaxBlockSize / 2},
		{"RestartInterval", &w.RestartInterval, block.DefaultRestartInterval, 1<<31 - 1},
		{"Concurrency", &w.Concurrency, 1, 1024},
	} {
		if *n.value < 0 || *n.value > n.most {
			return w, fmt.Errorf("table: %s is %d, want 0 to %d", n.name, *n.value, n.most)
		}
		if *n.value == 0 {
			*n.value = n.def
		}
	}
	if w.Compression == nil {
		w.Compression = Snappy
	}
	if err := checkCodec(w.Compression); err != nil {
		return w, err
	}
	if w.Comparer == nil {
		w.Comparer = BytewiseComparer
	}
	w.FilterKey = filterKeyFor(w.Comparer, w.FilterKey)
	w.Properties = w.Properties || w.FilterOnly || w.FilterPrefix != nil
	return w, w.check()
}

// check checks that the options fit together.
func (o *WriterOptions) check() error {
	switch {
	case o.FilterOnly && (o.TableFilterPolicy == nil || o.FilterPolicy != nil):
		return errors.New("table: FilterOnly wants a TableFilterPolicy, and no FilterPolicy: there are no data blocks")
	case o.FilterPrefix != nil && o.FilterPolicy == nil && o.TableFilterPolicy == nil:
		return errors.New("table: FilterPrefix is set, but neither FilterPolicy nor TableFilterPolicy: there is no filter to hold prefixes")
	case o.Never != nil && o.TableFilterPolicy == nil:
		return errors.New("table: Never is set without a TableFilterPolicy: want one, since exceptions are those of its filter")
	case o.Never != nil && rowblock.OrderOf(o.Comparer).Unchecked:
		return errors.New("table: Never is set with AnyOrder: want a Comparer that orders its keys")
	}
	return o.checkNames()
}

// maxName is the most bytes of the name of a policy or a Comparer.
const maxName = 1 << 10

// checkNames checks that the names in metaindex and properties are few and short enough for
// a Reader.
func (o *WriterOptions) checkNames() error {
	var names []string
	for _, p := range []namedPolicy{o.FilterPolicy, o.TableFilterPolicy} {
		if p != nil {
			names = append(names, filterNames(p)...)
		}
	}
	const others = 4 // properties under two names, digest and exceptions
	if n := len(names); n > tablefile.MaxMetaBlocks-others {
		return fmt.Errorf("table: filter policies have %d names, want at most %d", n, tablefile.MaxMetaBlocks-others)
	}
	if o.Properties {
		names = append(names, userComparerName(o.Comparer))
	}
	if o.FilterPrefix != nil {
		names = append(names, o.FilterPrefix.Name())
	}
	for _, name := range names {
		if len(name) > maxName {
			return fmt.Errorf("table: policy, comparer or prefixer has a name of %d bytes, %s, want at most %d", len(name), format.Quote([]byte(name)), maxName)
		}
	}
	return nil
}
