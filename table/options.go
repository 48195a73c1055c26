package table

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// defaultMaxBlockSize is the maximum size of a block that a Writer writes, and the default of MaxBlockSize.
const defaultMaxBlockSize = 1 << 30

// WriterOptions are options of a Writer. A value out of range is an error of Create and NewWriter.
type WriterOptions struct {
	// FilterPolicy builds the filter block, usually filter.NewBloom(10), under its name and aliases. Nil means no
	// filter block.
	FilterPolicy filter.Policy

	// TableFilterPolicy builds one filter of all keys, usually filter.NewTableBloom(10), which lookups check before
	// the index. It takes memory per key until Close. LevelDB and goleveldb ignore it. Nil means no table filter.
	TableFilterPolicy filter.TablePolicy

	// Never yields keys that must not be false positives of the table filter, in key order: an allowlist beside a
	// blocklist, for example. Those that the filter reports are stored as exceptions. It can run twice and must yield
	// the same keys. A key that is also appended is an error ([ErrNever]). Keys of equal filter key must be
	// neighbors. Other engines ignore exceptions.
	Never iter.Seq2[[]byte, error]

	// FilterKey returns the part of a key that filters hold, or nil for none. It must be a pure function, safe for
	// concurrent use, and must not modify or keep key. Readers need the same one. If it is nil, the Comparer's is
	// used if it has one, otherwise the whole key.
	FilterKey func(key []byte) []byte

	// FilterPrefix adds the prefix of each filter key to the filters, for scans of one prefix: see [IterOptions]. A
	// prefix takes as much space as a key. It sets Properties. Other engines use the filters as before. Nil means no
	// prefixes.
	FilterPrefix filter.Prefixer

	// FilterBaseLg sets how many bytes of data blocks share a filter of the filter block: 2 to the power of it, 1 to
	// 30. Zero means 11, for 2 KiB.
	FilterBaseLg int

	// Properties adds a properties block: see [layout.Properties]. Pebble >= 2.1 requires it. RocksDB up to 10.x ingests
	// (IngestExternalFile) tables with it, an InternalComparer and sequence numbers of 0; 11.0 and later refuse
	// LevelDB's format. LevelDB and goleveldb ignore it.
	Properties bool

	// DataDigest adds a SHA-256 of the data blocks' checksums, in about 60 bytes. Without it, tables with the same
	// keys and different values can have the same TailSum. Other engines ignore it, but RocksDB's sst_dump aborts if
	// it was built with assertions.
	DataDigest bool

	// FilterOnly writes a table with only a table filter and Properties. Append then accepts no values. Readers
	// support MayContain; Get and Find return ErrNotFound or ErrFilterOnly. Other engines see an empty table. It
	// excludes a FilterPolicy.
	FilterOnly bool

	// BlockSize is the size of data blocks in bytes before compression, at most 512 MiB; the entry that reaches it
	// completes the block. Larger blocks take less memory in Readers, and more time per uncached lookup. Zero means
	// 4096.
	BlockSize int

	// RestartInterval is the number of entries per restart point of a data block: see block.NewWriter. Zero means 16.
	RestartInterval int

	// Compression compresses data blocks and the index. Blocks that shrink by less than an eighth are not. Nil means
	// [Snappy].
	Compression Codec

	// Comparer is the order of the keys. Nil means [BytewiseComparer].
	Comparer Comparer

	// Concurrency is the number of goroutines that compress data blocks, 1 to 1024, each with about 1 MiB. Zero means
	// 1, the caller's own. With more, large tables are written faster, with the same bytes, and Append may report a
	// write error later.
	Concurrency int
}

// withDefaults returns a copy with defaults filled in.
func (o *WriterOptions) withDefaults() (WriterOptions, error) {
	w := *cmp.Or(o, &WriterOptions{})
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
			return w, fmt.Errorf("table: %s is %d, not 0 to %d", n.name, *n.value, n.most)
		}
		*n.value = cmp.Or(*n.value, n.def)
	}
	w.Compression, w.Comparer = cmp.Or(w.Compression, Snappy), cmp.Or(w.Comparer, BytewiseComparer)
	if err := checkCodec(w.Compression); err != nil {
		return w, err
	}
	w.FilterKey, _ = filterKeyFor(w.Comparer, w.FilterKey)
	w.Properties = w.Properties || w.FilterOnly || w.FilterPrefix != nil
	return w, w.check()
}

// check checks that the options fit together.
func (o *WriterOptions) check() error {
	switch {
	case o.FilterOnly && (o.TableFilterPolicy == nil || o.FilterPolicy != nil):
		return errors.New("table: FilterOnly needs a TableFilterPolicy, and no FilterPolicy: there are no data blocks")
	case o.FilterPrefix != nil && o.FilterPolicy == nil && o.TableFilterPolicy == nil:
		return errors.New("table: FilterPrefix is set, but neither FilterPolicy nor TableFilterPolicy: there is no filter to hold prefixes")
	case o.Never != nil && o.TableFilterPolicy == nil:
		return errors.New("table: Never needs a TableFilterPolicy, whose filter has the exceptions")
	case o.Never != nil && rowblock.OrderOf(o.Comparer).Unchecked:
		return errors.New("table: Never is set with AnyOrder: use a Comparer that orders its keys")
	}
	return o.checkNames()
}

// The maximum length of the name of a policy, Comparer or Prefixer, and of all names of filter policies together, in
// bytes. With longer ones, the metaindex would be too large for a Reader.
const (
	maxName  = 1 << 10
	maxNames = 12 << 10
)

// checkNames checks that the names in metaindex and properties are few and short enough for
// a Reader.
func (o *WriterOptions) checkNames() error {
	var names []string
	for _, p := range []namedPolicy{o.FilterPolicy, o.TableFilterPolicy} {
		if p != nil {
			names = append(names, filterNames(p)...)
		}
	}
	n, size := len(names), len(names)*len(format.TableFilterPrefix)
	for _, name := range names {
		size += len(name)
	}
	if o.Properties {
		names = append(names, userComparerName(o.Comparer))
	}
	if o.FilterPrefix != nil {
		names = append(names, o.FilterPrefix.Name())
	}
	for _, name := range names {
		if len(name) > maxName {
			return fmt.Errorf("table: policy, comparer or prefixer has a name of %d bytes, %s (maximum %d)", len(name), format.Quote([]byte(name)), maxName)
		}
	}
	if size > maxNames { // a single name is not the reason
		return fmt.Errorf("table: the %d names of the filter policies take %d bytes (maximum %d)", n, size, maxNames)
	}
	return nil
}

// A Codec compresses and decompresses blocks. It must be safe for concurrent use. [Snappy] and [NoCompression] are
// built in; the module table/codecs has zstd, zlib and deflate. Set it in WriterOptions.Compression and
// ReaderOptions.Codecs.
type Codec interface {
	// ID returns the number stored in each compressed block. It must not be 0.
	ID() byte

	// Encode appends the compressed src, at most 1 GiB, to dst. It must not modify or keep src.
	Encode(dst, src []byte) []byte

	// Decode appends the decompressed src to dst. If src is corrupt or decompresses to more than limit bytes, it
	// returns an error, if possible before allocating. It must not modify or keep src, or panic.
	Decode(dst, src []byte, limit int) ([]byte, error)
}

var (
	// Snappy is LevelDB's compression. Its id is 1.
	Snappy Codec = tablefile.Snappy{}

	// NoCompression stores blocks as they are. Its id is 0.
	NoCompression Codec = noCodec{}
)

// checkCodec checks that c does not have the id of NoCompression, unless it is NoCompression.
func checkCodec(c Codec) error {
	if c != nil && c != NoCompression && c.ID() == NoCompression.ID() {
		return fmt.Errorf("table: codec has id %d, which means no compression: use another id", c.ID())
	}
	return nil
}

type noCodec struct{}

func (noCodec) ID() byte { return 0 }

func (noCodec) Encode(dst, src []byte) []byte { return append(dst, src...) }

func (noCodec) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src) > limit {
		return nil, fmt.Errorf("block of %d bytes exceeds the limit of %d", len(src), limit)
	}
	return append(dst, src...), nil
}
