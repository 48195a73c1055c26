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
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/internal/wire"
)

// A Writer writes a table. Its calls come in this order:
//
//	Append* (Close | Abort)
//
// A Writer must not be used by several goroutines at a time. After an error, Append and
// Close return the same error again. The memory of a Writer grows with the table's
// index and filters, not with its entries.
type Writer struct {
	o      WriterOptions
	out    sink
	file   *atomicfile.File // nil if NewWriter made the Writer
	offset uint64           // the size of the file, with what is in out

	data    *block.Writer
	index   *block.Writer
	encoder blockEncoder
	queue   *encodeQueue // nil: the Writer's goroutine encodes all blocks

	filter          *filter.BlockWriter   // nil if there is no policy
	tableFilter     filter.TableGenerator // nil if there is no policy
	tableFilterKeys uint64                // keys that were added to tableFilter
	readyFilter     []byte                // of SetTableFilter; nil: there is none
	never           *neverList            // nil without Never

	prefix        []byte // the last one that was added to filters; nil: none
	prefixInBlock bool   // for the data block that is being built

	// A data block's index entry is not added when the block is complete, but when
	// the next key is known: the separator, which is ≥ all keys of the block and < all
	// keys of the next one, can then be shorter than either. As long as
	// pendingIndexEntry is true, the last complete block has no separator. Without a
	// queue, pendingHandle is its handle.
	pendingIndexEntry bool
	pendingHandle     tablefile.Handle

	digest  hash.Hash // of the data blocks' trailers; nil without DataDigest
	tail    []byte    // what tailSum is the SHA-256 of
	tailSum [sha256.Size]byte

	entries, blocks int
	counts          entryCounts
	external        bool   // whether RocksDB may take the table over
	dataEnd         uint64 // where the data blocks end
	tailSize        int64  // from dataEnd to the end of the file
	filterSize      uint64

	err    error
	closed bool

	lastKey, lastFilterKey []byte // with FilterOnly

	separator     []byte // scratch
	encodedHandle []byte // scratch
	prefixHash    []byte // scratch
}

// Create returns a Writer for the file name. The file appears only when Close has
// written all of the table to disk; it then replaces a file of that name. Until then
// the table is in a temporary file in the same directory, sievetable-….tmp. Abort
// removes that file, and so does Close after an error. A crash can leave it behind.
//
// If name is a symbolic link, the link stays, and the file that it leads to is
// replaced. Only regular files are replaced: neither devices nor anything in /dev and
// /proc. The file's permissions are 0666 before umask. If Close cannot sync the
// directory, it returns an error, and the new file stays, though a crash may undo its name.
// On Unix, a Reader that has the old file open goes on reading the old table.
//
//	w, err := table.Create("users.ldb", nil)
//	if err != nil { … }
//	defer w.Abort() // does nothing after Close
//	… w.Append …
//	return w.Close()
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

// NewWriter returns a Writer that writes a table to w, in large pieces. If o is nil,
// all options are the defaults. An option out of its range is an error. Close finishes
// the table and does not close w.
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
	t := &Writer{o: opts, encoder: blockEncoder{codec: opts.Compression}, external: opts.canBeExternal()}
	if opts.DataDigest {
		t.digest = sha256.New()
	}
	order := BlockOrder(opts.Comparer)
	if t.data, err = block.NewWriter(opts.RestartInterval, order); err != nil {
		return nil, err
	}
	if t.index, err = block.NewWriter(1, order); err != nil {
		return nil, err
	}
	if opts.FilterPolicy != nil {
		if t.filter, err = filter.NewBlockWriter(opts.FilterPolicy, opts.FilterBaseLg); err != nil {
			return nil, err
		}
	}
	if opts.TableFilterPolicy != nil {
		t.tableFilter = opts.TableFilterPolicy.NewTableGenerator()
	}
	if t.tableFilter == nil && (opts.FilterOnly || opts.Never != nil) {
		return nil, fmt.Errorf("table: filter policy %q returns no TableGenerator, but FilterOnly and Never want a filter", opts.TableFilterPolicy.Name())
	}
	if opts.Never != nil {
		t.never = newNeverList(&t.o)
	}
	if opts.Concurrency > 1 && opts.Compression.ID() != NoCompression.ID() {
		t.queue = newEncodeQueue(opts.Concurrency, opts.BlockSize, opts.Compression)
	}
	t.out.takeBuffer()
	t.startDataBlock()
	return t, nil
}

// Append adds an entry. Its key must be > the key before, or the error is ErrOrder and
// names both keys. The empty key is a valid first key. Key and value together may have
// up to a little less than 1 GiB. Append does not keep the slices. After Close or
// Abort, the error is ErrClosed.
func (w *Writer) Append(key, value []byte) error {
	if err := w.usable(); err != nil {
		return err
	}
	w.err = errPanicked
	w.err = w.append(key, value)
	return w.err
}

// maxEntry is the most bytes that key and value may have together. A data block of
// that entry alone takes a few bytes more.
const maxEntry = defaultMaxBlockSize - 32

func (w *Writer) append(key, value []byte) error {
	if uint64(len(key))+uint64(len(value)) > maxEntry {
		return fmt.Errorf("table: key of %d bytes and value of %d, want at most %d together", len(key), len(value), maxEntry)
	}
	if w.o.FilterOnly {
		return w.appendToFilterOnly(key, value)
	}
	if w.pendingIndexEntry {
		if err := w.flushPendingIndexEntry(key); err != nil {
			return err
		}
	}
	w.external = w.external && w.staysExternal(key)
	if err := w.data.Append(key, value); err != nil {
		if errors.Is(err, block.ErrOrder) {
			return w.outOfOrder(key)
		}
		return err
	}
	w.addToFilter(key)
	w.entries++
	if w.o.Properties {
		w.counts.add(key, value, ofInternalKeys(w.o.Comparer))
	}
	if w.never != nil {
		if err := w.never.pass(key); err != nil {
			return err
		}
	}
	if w.data.Size() >= w.o.BlockSize {
		return w.finishDataBlock()
	}
	return nil
}

// outOfOrder is the error for a key that is not > the last key.
func (w *Writer) outOfOrder(key []byte) error {
	return fmt.Errorf("%w: %s after %s", ErrOrder, wire.Quote(key), wire.Quote(w.data.LastKey()))
}

// SetTableFilter stores contents as the table filter, for a filter that was built
// elsewhere, such as a union of filters. It needs FilterOnly, and is called instead of
// Append. contents must be a filter of TableFilterPolicy. keys is the number of keys and
// prefixes in it, at least 1. The Writer keeps contents until Close.
func (w *Writer) SetTableFilter(contents []byte, keys uint64) error {
	if err := w.usable(); err != nil {
		return err
	}
	w.err = errPanicked
	w.err = w.setTableFilter(contents, keys)
	return w.err
}

func (w *Writer) setTableFilter(contents []byte, keys uint64) error {
	if !w.o.FilterOnly || w.entries > 0 || keys == 0 {
		return errors.New("table: SetTableFilter needs FilterOnly, no Append, and a filter of at least 1 key")
	}
	if _, err := w.o.TableFilterPolicy.Open(contents); err != nil {
		return fmt.Errorf("table: filter policy %q: %w", w.o.TableFilterPolicy.Name(), err)
	}
	w.readyFilter, w.tableFilterKeys = contents, keys
	return nil
}

// Entries returns the number of entries that were appended.
func (w *Writer) Entries() int { return w.entries }

// DataBlocks returns the number of complete data blocks.
func (w *Writer) DataBlocks() int { return w.blocks }

// Size returns how many bytes the complete blocks take in the file; after Close, it is
// the size of the file. Use it to decide when to start the next table. With
// Concurrency, blocks that other goroutines may still encode are not counted: the last
// few hundred KiB for each goroutine. Each run with the same entries and options
// returns the same sizes.
func (w *Writer) Size() int64 { return int64(w.offset) }

// TailSize returns how many bytes the file has behind its last data block: filters,
// properties, metaindex, index and footer. It is the best ReaderOptions.TailSize for the
// table. Before Close it is 0.
func (w *Writer) TailSize() int64 { return w.tailSize }

// TailSum returns what [Layout.TailSum] returns for the table. Before Close it is zeros.
func (w *Writer) TailSum() [sha256.Size]byte { return w.tailSum }

// Close finishes the table. If Create made the Writer and Close returns nil, the file
// is on disk under its name. If Close returns an error, which can be that of an
// earlier Append, the temporary file is removed. A second Close returns ErrClosed. No
// goroutine of the Writer is left when Close returns.
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

// Abort ends the Writer without a table. If Create made the Writer, the temporary file
// is removed. No goroutine of the Writer is left when Abort returns. After Close or
// Abort, Abort does nothing, so that it can be deferred.
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
	w.out.leaveBuffer()
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
