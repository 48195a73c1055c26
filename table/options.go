package table

import (
	"errors"
	"fmt"
	"iter"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/internal/wire"
)

// defaultMaxBlockSize is the most bytes of a block that a Writer writes, and the default of
// MaxBlockSize.
const defaultMaxBlockSize = 1 << 30

// WriterOptions are options of a Writer. The zero value of each field is its default. A value
// out of range is an error of Create and NewWriter.
type WriterOptions struct {
	// FilterPolicy builds the filters of a filter block, most often filter.NewBloom(10).
	// The table lists the block under the policy's name and its aliases: see
	// filter.Policy. A name may have up to 1 KiB. If nil, there is no filter block.
	FilterPolicy filter.Policy

	// TableFilterPolicy builds one filter of all keys of the table, most often
	// filter.NewTableBloom(10). Lookups check it before they search the index. LevelDB and
	// goleveldb ignore it. A table can have a filter block too. Until Close it takes some
	// memory for each key. nil: no table filter.
	TableFilterPolicy filter.TablePolicy

	// Never yields keys that no lookup may take for keys of the table by mistake, such as a
	// whitelist beside a blacklist. Those that the filter of the whole table has by chance are
	// stored beside it: their filter keys, as exceptions. Reader.MayContain is then false for each
	// of the keys. With a filter that errs for 1 of 4096 keys, that many of them are stored. LevelDB,
	// goleveldb and Pebble ignore the exceptions. RocksDB treats their block as that of DataDigest.
	//
	// The keys come in the order of the Comparer, each ≥ the one before. Never runs twice, beside
	// Append and in Close, and must yield the same keys. Its errors end the Writer. A slice that it
	// yields may be reused. A key that is appended too is ErrNever, and the error names it. To find it,
	// keys of one filter key must be neighbours in the order, as they are with an InternalComparer: with
	// a FilterKey that keeps to no order, lookups can miss keys, and Verify reports them. Without a TableFilterPolicy, with AnyOrder, and for a key that has no filter key, Never is an
	// error. End the Writer by Close or Abort. Memory grows with the exceptions, not with the keys.
	Never iter.Seq2[[]byte, error]

	// FilterKey returns the part of a key that filters hold: its filter key. It must not
	// change or keep key. The Writer uses the result before the next call. If the result
	// is nil, filters do not hold the key; Readers with the same FilterKey then check no
	// filter for it. nil: that of the Comparer if it is a FilterKeyer, else the whole key.
	FilterKey func(key []byte) []byte

	// FilterPrefix adds the prefix of each filter key to the filters beside it, so that
	// IterOptions.Prefix can pass over what has no key of a prefix. Prefixes take as much of a filter
	// as keys: one for each prefix in the filter of the whole table, and one for each filter of a
	// filter block that has keys of the prefix. Lookups keep the rate of false positives. A lookup of
	// a key that equals a prefix may read a block. Other engines use the filters for keys as before.
	// FilterPrefix sets Properties, which name the function. Without a FilterPolicy or a
	// TableFilterPolicy it is an error. nil: no prefixes.
	FilterPrefix Prefixer

	// FilterBaseLg is the base-2 logarithm of how many bytes of the file share one filter
	// of the filter block, 1 to 30. 0: 11, for 2 KiB.
	FilterBaseLg int

	// Properties adds a properties block to the table: see type Properties. Pebble >= 2.1.5
	// reads only tables that have one. RocksDB up to 10.x ingests (IngestExternalFile) a table
	// that has one and internal keys (InternalComparer), if all sequence numbers are 0, each user key
	// comes once, and a TableFilterPolicy filters user keys. RocksDB 11.0 and later refuse LevelDB's
	// format. LevelDB and goleveldb ignore the properties.
	Properties bool

	// DataDigest adds a digest block to the table: the SHA-256 of the compression ids and
	// checksums of all data blocks. With it, Layout.TailSum tells tables of the same keys and other
	// values apart. The tables of sets have it. It takes about 60 bytes. LevelDB, goleveldb and Pebble
	// ignore it. RocksDB's sst_dump aborts at it, if it was built with assertions.
	DataDigest bool

	// FilterOnly writes a table that has the TableFilterPolicy's filter of the keys and
	// Properties, and neither keys nor values. Append then takes no values. A Reader of the
	// table answers MayContain. Its Get and Find return ErrNotFound for a key that the filter
	// rules out, and else ErrFilterOnly, as its iterators do. Other engines see an empty table,
	// so give the file another extension than theirs. With a FilterPolicy, or without a
	// TableFilterPolicy, it is an error.
	FilterOnly bool

	// BlockSize is the size from which on a data block is complete, in bytes before
	// compression, ≤ 512 MiB. The larger, the less memory an open table takes, and the longer a lookup
	// of a present key that is not in a cache: it reads and decompresses a whole block. 0: 4096.
	BlockSize int

	// RestartInterval is the number of entries from one restart point of a data block to
	// the next. There can be fewer: see block.NewWriter. 0: 16.
	RestartInterval int

	// Compression compresses data and index blocks. A block that it does not make smaller
	// by more than an eighth is stored uncompressed. nil: Snappy.
	Compression Codec

	// Comparer is the order of the keys. nil: BytewiseComparer.
	Comparer Comparer

	// Concurrency is how many goroutines at a time compress data blocks and compute their
	// checksums, including the caller's: 1 to 1024. 0: 1.
	//
	// The file has the same bytes with any number. A number > 1 is faster if a core is
	// free and the table has several MB. Without compression it changes nothing. Each
	// further goroutine takes about 1 MiB of memory, or some blocks if these are larger;
	// later Writers reuse it. The goroutines end when there is nothing to encode. Append
	// may return an error of writing some hundred KiB later than with 1. Close returns it
	// in any case.
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
	if w.FilterOnly {
		if w.TableFilterPolicy == nil || w.FilterPolicy != nil {
			return w, errFilterOnlyOptions
		}
		w.Properties = true
	}
	if w.FilterPrefix != nil {
		w.Properties = true
	}
	if err := errors.Join(w.checkNever(), w.checkFilterPrefix()); err != nil {
		return w, err
	}
	return w, w.checkNames()
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
			return fmt.Errorf("table: policy, comparer or prefixer has a name of %d bytes, %s, want at most %d", len(name), wire.Quote([]byte(name)), maxName)
		}
	}
	return nil
}
