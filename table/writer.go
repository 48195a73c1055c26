package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/internal/wire"
)

// A Writer builds a table:
//
//	Append* (Close | Abort)
//
// It serves one goroutine at a time. The first error ends it: Append and Close
// return that error from then on. Memory grows with the index and the filters,
// not with the entries.
type Writer struct {
	o       WriterOptions
	compare func(a, b []byte) int // nil: bytewise
	out     sink
	file    *atomicfile.File // nil if NewWriter made it

	data    *block.Writer
	index   *block.Writer
	filter  *filter.BlockWriter // nil if there is no policy
	encoder encoder
	batches *batches // nil if blocks are encoded one by one, here

	tableFilter   filter.TableGenerator // nil if there is no policy
	inTableFilter int                   // keys that were added to it

	counts     counts
	dataEnd    uint64 // where data blocks end
	filterSize uint64

	offset  uint64 // bytes written, or to be: what is in out too
	pending Handle // the data block that is next to have an index entry
	waiting bool   // for a separator of the last data block
	entries int
	blocks  int
	err     error
	closed  bool

	separator []byte // scratch, as is the next
	encoded   []byte
}

// NewWriter returns a Writer that writes a table to w, in large pieces. nil
// options are the defaults; impossible ones are an error. Close finishes the
// table and does not close w.
func NewWriter(w io.Writer, o *WriterOptions) (*Writer, error) {
	if w == nil {
		return nil, errors.New("table: no writer")
	}
	t, err := newWriter(o)
	if err != nil {
		return nil, err
	}
	t.out.w = w
	return t, nil
}

// newWriter returns a Writer that has nothing to write to yet.
func newWriter(o *WriterOptions) (*Writer, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Writer{o: opts, compare: compareFunc(opts.Comparer), encoder: encoder{codec: opts.Compression}}
	if t.data, err = block.NewWriter(opts.RestartInterval); err != nil {
		return nil, err
	}
	if t.index, err = block.NewWriter(1); err != nil {
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
	if opts.Concurrency > 1 && opts.Compression.ID() != NoCompression.ID() {
		t.batches = newBatches(opts.Concurrency, opts.BlockSize, opts.Compression)
	}
	t.startDataBlock()
	return t, nil
}

// Append adds an entry. Its key must be above the one before: otherwise the
// error is ErrOrder and names both. An empty key is a key, and can be the first
// one. Neither slice is kept. Key and value take up to a little less than 1 GiB
// together. It is ErrClosed after Close or Abort.
func (w *Writer) Append(key, value []byte) error {
	if err := w.usable(); err != nil {
		return err
	}
	w.err = errPanicked
	w.err = w.append(key, value)
	return w.err
}

// errPanicked is the error of a Writer, or of an iterator, while it works, and stays
// if a Comparer, FilterKey, policy, codec or source panics: what is half done must
// not be published, nor read.
var errPanicked = errors.New("table: an earlier call panicked")

// maxEntry is the most bytes that key and value may have together: a data block of
// that entry alone takes a few more.
const maxEntry = defaultMaxBlockSize - 32

func (w *Writer) append(key, value []byte) error {
	if uint64(len(key))+uint64(len(value)) > maxEntry {
		return fmt.Errorf("table: key of %d bytes and value of %d, want at most %d together", len(key), len(value), maxEntry)
	}
	shared, err := w.checkOrder(key)
	if err != nil {
		return err
	}
	if err := w.indexPending(key); err != nil {
		return err
	}
	if err := w.data.AppendSharing(shared, key, value); err != nil {
		return err
	}
	w.addToFilter(key)
	w.entries++
	if w.o.Properties {
		w.counts.count(key, value, ofInternalKeys(w.o.Comparer))
	}
	if w.data.Size() >= w.o.BlockSize {
		return w.finishDataBlock()
	}
	return nil
}

// checkOrder checks that key is above the last one, and returns how many bytes it
// shares with it. In the bytewise order that decides.
func (w *Writer) checkOrder(key []byte) (shared int, err error) {
	last := w.data.LastKey()
	shared = wire.SharedLen(last, key)
	var above bool
	switch {
	case w.entries == 0:
		above = true
	case w.compare != nil:
		above = w.compare(last, key) < 0
	default:
		above = shared < len(key) && (shared == len(last) || last[shared] < key[shared])
	}
	if !above {
		return 0, fmt.Errorf("%w: %s after %s", ErrOrder, wire.Quote(key), wire.Quote(last))
	}
	return shared, nil
}

func (w *Writer) addToFilter(key []byte) {
	if w.filter == nil && w.tableFilter == nil {
		return
	}
	if key = filterKeyOf(w.o.FilterKey, key); key == nil {
		return
	}
	if w.tableFilter != nil {
		w.tableFilter.Add(key)
		w.inTableFilter++
	}
	if w.filter == nil {
		return
	}
	if w.batches != nil {
		w.batches.hold(w.filter, key) // until it is known where the block starts
		return
	}
	w.filter.Add(key)
}

// Entries returns how many entries were appended.
func (w *Writer) Entries() int { return w.entries }

// DataBlocks returns how many data blocks are complete.
func (w *Writer) DataBlocks() int { return w.blocks }

// Size returns how many bytes the complete blocks take in the file; after
// Close, the size of the file. Cut tables by it. With Concurrency it leaves out
// blocks that may still be under way: the last few hundred KiB for each goroutine.
// It is the same in each run all the same.
func (w *Writer) Size() int64 { return int64(w.offset) }

// Close finishes the table. If Create made the Writer, the file is on disk
// under its name when Close returns nil; when it returns an error, the earlier
// one if there was one, the file is removed. A second Close is ErrClosed.
func (w *Writer) Close() error {
	if w.closed {
		return ErrClosed
	}
	if w.err == nil {
		w.err = errPanicked
		w.err = w.finish()
	}
	w.closed = true
	switch {
	case w.file == nil:
		return w.err
	case w.err != nil:
		return errors.Join(w.err, wrap(w.file.Abort()))
	default:
		return wrap(atomicfile.Commit(w.file))
	}
}

// Abort gives the table up: if Create made the Writer, the temporary file is
// removed. After Close or Abort it does nothing, so that it can be deferred.
func (w *Writer) Abort() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.file == nil {
		return nil
	}
	return wrap(w.file.Abort())
}

func (w *Writer) usable() error {
	if w.closed {
		return ErrClosed
	}
	return w.err
}
