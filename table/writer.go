package table

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// A Writer writes a table. Call Append for each entry in key order, then Close, or Abort. A Writer must not be used
// concurrently. After an error, Append and Close return it again. The memory of a Writer grows with the index and the
// filters, not with the entries.
type Writer struct {
	o      WriterOptions
	out    *sink
	file   *atomicfile.File // nil if NewWriter made the Writer
	err    error
	closed bool

	data    *block.Writer
	index   *block.Writer
	encoder blockEncoder
	queue   *encodeQueue // nil: the Writer's goroutine encodes all blocks
	inPlace bool         // data blocks are stored as they are built

	// A data block's index entry is not added when the block is complete, but when
	// the next key is known: the separator, which is >= all keys of the block and < all
	// keys of the next one, can then be shorter than either. As long as
	// pendingIndexEntry is true, the last complete block has no separator. Without a
	// queue, pendingHandle is its handle.
	pendingIndexEntry bool
	pendingHandle     tablefile.Handle
	separator         []byte // scratch
	encodedHandle     []byte // scratch

	blockFilter   *filter.BlockWriter   // nil without a FilterPolicy
	tableFilter   filter.TableGenerator // nil without a TableFilterPolicy
	readyFilter   []byte                // from SetTableFilter, or nil
	never         *neverList            // nil without Never
	prefix        []byte                // the last one added to filters, or nil
	prefixHash    []byte                // scratch
	prefixInBlock bool                  // prefix was added for the current data block
	lastKey       []byte                // with FilterOnly
	lastFilterKey []byte                // with FilterOnly

	properties layout.Properties // the counts; Close sets the rest
	external   bool              // whether RocksDB can ingest the table

	offset   uint64        // the size of the file, with the bytes still in out
	digest   hash.Hash     // of the data blocks' trailers; nil without DataDigest
	meta     []listedBlock // of the metaindex
	tail     []byte        // the bytes whose SHA-256 is tailSum
	tailSum  [sha256.Size]byte
	tailSize int64

	pages      uint64 // bytes of the table filter that a Reader reads by the page: they are not in the tail
	filterSize int64  // of the table filter
	filterBits int    // of its fingerprints, if it can be narrowed
}

// Create returns a Writer for the named file. Close syncs it and gives it its name, replacing a regular file or the
// target of a symbolic link. Until then the table is in sievetable-*.tmp in the same directory, which a crash can
// leave behind.
//
//	w, err := table.Create("users.ldb", nil)
//	if err != nil { ... }
//	defer w.Abort() // a no-op after Close
//	... w.Append ...
//	return w.Close()
//
// A new file's permissions are 0666 before umask. A replaced file keeps its own.
func Create(name string, o *WriterOptions) (*Writer, error) {
	w, err := newWriter(o) // first: it leaves no file behind if a policy panics
	if err != nil {
		return nil, err
	}
	if w.file, err = atomicfile.Create(name); err != nil {
		return nil, wrap(err)
	}
	w.out.w = w.file
	return w, nil
}

// NewWriter returns a Writer that writes a table to w. If o is nil, the defaults are used. Close does not close w.
func NewWriter(w io.Writer, o *WriterOptions) (*Writer, error) {
	if w == nil {
		return nil, errors.New("table: the io.Writer is nil")
	}
	t, err := newWriter(o)
	if err != nil {
		return nil, err
	}
	t.out.w = w
	return t, nil
}

// newWriter returns a Writer without a sink.
func newWriter(o *WriterOptions) (*Writer, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	w := &Writer{o: opts, encoder: blockEncoder{codec: opts.Compression}}
	_, w.external = opts.Comparer.(internalComparer)
	w.inPlace = opts.Compression.ID() == NoCompression.ID()
	order := block.Order(rowblock.OrderOf(opts.Comparer))
	if w.data, err = block.NewWriter(opts.RestartInterval, order); err != nil {
		return nil, err
	}
	if w.index, err = block.NewWriter(1, order); err != nil {
		return nil, err
	}
	if err := w.startFilters(); err != nil {
		return nil, err
	}
	if opts.DataDigest {
		w.digest = sha256.New()
	}
	if opts.Concurrency > 1 && !w.inPlace {
		w.queue = newEncodeQueue(opts.Concurrency, opts.BlockSize, opts.Compression)
	}
	w.out = sinks.Get().(*sink)
	w.startDataBlock()
	return w, nil
}

// Append adds an entry. If key is <= the last one, the error wraps ErrOrder. The empty key may be first. Key and
// value may have almost 1 GiB together. Append does not keep the slices. After Close or Abort, it returns ErrClosed.
func (w *Writer) Append(key, value []byte) error {
	if err := w.usable(); err != nil {
		return err
	}
	w.err = errPanicked
	w.err = w.append(key, value)
	return w.err
}

// maxEntry is the maximum total length of key and value. A data block with only that entry takes a few bytes more.
const maxEntry = defaultMaxBlockSize - 32

func (w *Writer) append(key, value []byte) (err error) {
	if uint64(len(key))+uint64(len(value)) > maxEntry {
		return fmt.Errorf("table: key of %d bytes and value of %d bytes exceed the maximum of %d", len(key), len(value), maxEntry)
	}
	if w.o.FilterOnly {
		err = w.appendFilterOnly(key, value)
	} else {
		err = w.appendEntry(key, value)
	}
	if err != nil {
		return err
	}
	w.properties.Entries++
	if w.never != nil {
		return w.never.pass(key)
	}
	return nil
}

// appendEntry adds an entry to the data block, and its key to the filters.
func (w *Writer) appendEntry(key, value []byte) error {
	if len(key)+len(value) > maxEntry-w.data.Size() && w.data.Entries() > 0 { // the block would be too large
		if err := w.finishDataBlock(); err != nil {
			return err
		}
	}
	if w.pendingIndexEntry {
		if err := w.flushPendingIndexEntry(key); err != nil {
			return err
		}
	}
	if w.o.Properties {
		w.countEntry(key, value)
	}
	if err := w.data.Append(key, value); err != nil {
		if errors.Is(err, block.ErrOrder) {
			return outOfOrder(key, w.data.LastKey())
		}
		return err
	}
	if w.blockFilter != nil || w.tableFilter != nil {
		w.addToFilters(filterKeyOf(w.o.FilterKey, key))
	}
	if w.data.Size() >= w.o.BlockSize {
		return w.finishDataBlock()
	}
	return nil
}

// outOfOrder is the error for a key that is not > the last key.
func outOfOrder(key, last []byte) error {
	return fmt.Errorf("%w: %s after %s", ErrOrder, format.Quote(key), format.Quote(last))
}

// Entries returns the number of appended entries.
func (w *Writer) Entries() int { return int(w.properties.Entries) }

// DataBlocks returns the number of complete data blocks.
func (w *Writer) DataBlocks() int { return int(w.properties.DataBlocks) }

// Size returns the bytes of complete blocks, for example to decide when to start the next table, and after Close the
// file's size. With Concurrency, blocks being compressed are not counted.
func (w *Writer) Size() int64 { return int64(w.offset) }

// TailSize returns the number of bytes after the data blocks, without the pages of a paged filter: the best
// [ReaderOptions].TailSize. Before Close it is 0.
func (w *Writer) TailSize() int64 { return w.tailSize }

// TailSum returns the table's fingerprint. Before Close it is zero.
func (w *Writer) TailSum() [sha256.Size]byte { return w.tailSum }

// TableFilter returns the size of the table filter in bytes, and for a fuse filter without Never the bits of its
// fingerprints. Before Close both are 0.
func (w *Writer) TableFilter() (size int64, bits int) { return w.filterSize, w.filterBits }

// Close completes the table. A file of Create is then on disk; on error, an older file of its name stays. If the
// directory cannot be synced, Close returns an error, and after a crash the file may not have its name.
func (w *Writer) Close() error {
	if w.closed {
		return ErrClosed
	}
	if w.err == nil {
		w.err = errPanicked
		w.err = w.finish()
	}
	w.stop()
	switch {
	case w.file == nil:
		return w.err
	case w.err != nil:
		return errors.Join(w.err, wrap(w.file.Abort()))
	default:
		return wrap(atomicfile.Commit(w.file))
	}
}

// Abort ends the Writer without a table. After Close it is a no-op.
func (w *Writer) Abort() error {
	if w.closed {
		return nil
	}
	w.stop()
	if w.file == nil {
		return nil
	}
	return wrap(w.file.Abort())
}

// stop ends the goroutines, and the Writer.
func (w *Writer) stop() {
	w.closed = true
	w.out.release()
	w.out = nil
	if w.never != nil {
		w.never.stop()
	}
	if w.queue != nil {
		w.queue.stop()
	}
}

func (w *Writer) usable() error {
	if w.closed {
		return ErrClosed
	}
	return w.err
}
