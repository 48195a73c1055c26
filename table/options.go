package table

import (
	"fmt"
	"math"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// defaultMaxBlockSize bounds blocks when they are written, and when they are
// read if MaxBlockSize does not.
const defaultMaxBlockSize = 1 << 30

// WriterOptions say how a table is written. Zero values are the defaults.
type WriterOptions struct {
	// FilterPolicy makes the filters. They are listed under its name and, if
	// it is a filter.Aliaser, its aliases, of up to 1 KiB each. nil: no filter block.
	FilterPolicy filter.Policy

	// TableFilterPolicy builds one filter of all keys, with or without a FilterPolicy:
	// most often filter.NewTableBloom. Lookups check it before they search the index.
	// Until Close it takes some memory for each key. nil: no table filter.
	TableFilterPolicy filter.TablePolicy

	// FilterKey returns the part of a key that the filter holds. The key must
	// not be changed or kept; the result is used before the next call. A nil
	// result leaves the key out of the filter, and readers that are given the
	// same FilterKey do not check the filter for it. nil: what the Comparer says if it
	// is a FilterKeyer, and else the whole key.
	FilterKey func(key []byte) []byte

	// FilterBaseLg is the base-2 logarithm of the range of file offsets that
	// share one filter, 1 to 30. 0: 11, which is 2 KiB.
	FilterBaseLg int

	// Properties adds a block of properties to the table: what it holds, and how it
	// was written. Its format is that of RocksDB and Pebble; Pebble from 2.1.5 on reads
	// no table without it. See Reader.Properties.
	Properties bool

	// BlockSize is how many bytes of entries and restart points, before
	// compression, complete a data block, up to 512 MiB. 0: 4096.
	BlockSize int

	// RestartInterval is the number of entries from one restart point of a
	// data block to the next. 0: 16. Where keys have shared 1 MiB since the last
	// restart point, there is one earlier: see block.NewWriter.
	RestartInterval int

	// Compression compresses data and index blocks, those that it makes
	// smaller by more than an eighth. nil: Snappy.
	Compression Codec

	// Comparer orders the keys. nil: BytewiseComparer.
	Comparer Comparer

	// Concurrency is how many goroutines at a time compress data blocks and compute
	// their checksums, the caller's goroutine among them: 1 to 1024. 0: 1. The file
	// has the same bytes with any number. More than 1 is faster if a core is free and
	// the table has several MB; without compression it changes nothing. Each further
	// goroutine takes about 1 MiB of memory, or some blocks if these are larger. Other
	// Writers use that memory again. The goroutines end when there is nothing to
	// encode. Append can return an error of the sink some hundred KiB later than with
	// 1; Close returns it in any case.
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
	return w, w.checkNames()
}

// maxName is the most bytes that the name of a policy or a Comparer may have.
const maxName = 1 << 10

// checkNames checks that a Reader takes what the metaindex and the properties will
// hold: few enough names, none of them long.
func (o *WriterOptions) checkNames() error {
	var names []string
	for _, p := range []namedPolicy{o.FilterPolicy, o.TableFilterPolicy} {
		if p != nil {
			names = append(names, filterNames(p)...)
		}
	}
	if n := len(names); n > maxMetaBlocks-1 { // and one is the properties'
		return fmt.Errorf("table: filter policies of %d names, want at most %d", n, maxMetaBlocks-1)
	}
	if o.Properties {
		names = append(names, userComparerName(o.Comparer))
	}
	for _, name := range names {
		if len(name) > maxName {
			return fmt.Errorf("table: policy or comparer with a name of %d bytes, %s, want at most %d", len(name), wire.Quote([]byte(name)), maxName)
		}
	}
	return nil
}

// ReaderOptions say how a table is read. Zero values are the defaults.
type ReaderOptions struct {
	// FilterPolicies read filter blocks. They are matched by name, and by alias if
	// they are filter.Aliasers, with the filter blocks that a table lists. The first
	// policy that matches is used. filter.Bloom, the policy of LevelDB and goleveldb,
	// is always known.
	FilterPolicies []filter.Policy

	// TableFilterPolicies read table filters, and are matched like FilterPolicies.
	// filter.TableBloom, the policy of RocksDB and Pebble, is always known.
	TableFilterPolicies []filter.TablePolicy

	// FilterKey returns the part of a key that the table's filters hold: the
	// table must have been written with the same. Lookups call it concurrently. What
	// it returns must not change while the key does not. With a wrong one lookups miss
	// keys: Open notices that most of the time, see FilterErr, and Verify reports
	// it. nil: what the Comparer says if it is a FilterKeyer, as InternalComparer is,
	// and else the whole key.
	FilterKey func(key []byte) []byte

	// IgnoreFilter leaves the table's filters unread.
	IgnoreFilter bool

	// Codecs decompress the table's blocks, matched by id: the first one that
	// fits, before the built-in ones. A block of an id that has no codec is
	// reported as corrupt. Id 0 is uncompressed, and no codec can have it.
	Codecs []Codec

	// Cache keeps data blocks for this and other Readers. nil: every lookup reads
	// and checks its block anew.
	Cache *Cache

	// MaxBlockSize is the most bytes that a block may take, stored or
	// decompressed, below 4 GiB; a larger one is reported as corrupt. 0: 1 GiB,
	// which is also what a Writer keeps to.
	MaxBlockSize int

	// TailSize is how many bytes at the end of the file are read at once when the
	// table is opened. Footer, index, metaindex and filter are there, in the end
	// that a Writer gives it: what lies in these bytes takes one read for all of
	// it, and the rest one for each part. A source that takes its time for each
	// read, such as an object store, wants about 1.5 bytes for each entry (at 10
	// filter bits per key) and a key's length and 30 bytes for each data block: in
	// all, 2 or 3 for each entry of small values, and 10 for those of 1000 bytes.
	// More than the file has is all of it, up to 1 GiB. The memory is free again when the table
	// is open. 0: each part is read by itself.
	TailSize int

	// SkipChecksums trusts blocks without computing their checksums. Their
	// form is still checked, but a filter whose bits are damaged can then hide
	// keys. Verify computes the checksums all the same.
	SkipChecksums bool

	// Comparer is the order that the table was written in. nil:
	// BytewiseComparer.
	Comparer Comparer

	// Metrics counts what the Reader does. Several Readers may share one. nil:
	// nothing is counted.
	Metrics *Metrics
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
	r.FilterKey = filterKeyFor(r.Comparer, r.FilterKey)
	return r, nil
}

// checkCodec checks that nothing but NoCompression has its id.
func checkCodec(c Codec) error {
	if c != nil && c != NoCompression && c.ID() == NoCompression.ID() {
		return fmt.Errorf("table: codec of id %d, which stands for no compression", c.ID())
	}
	return nil
}

// filterKeyOf returns what a filter holds of key: what f says, if there is an f,
// and else all of it. f is not given nil: to a table it is the empty key.
func filterKeyOf(f func(key []byte) []byte, key []byte) []byte {
	if key == nil {
		key = []byte{}
	}
	if f == nil {
		return key
	}
	return f(key)
}
