package set

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sievetable/sievetable/table"
)

// A Source reads the tables of one [Set] by name. [NewDir] returns a Source for a directory, and the
// module table/cloud has one for object storage. A Source must be safe for concurrent use.
//
// If a Source is also a [Forgetter], each Set needs a Source of its own.
type Source interface {
	// ReadAt reads len(p) bytes of the table name, starting at off. It returns what io.ReaderAt.ReadAt
	// returns: an error if n < len(p), and io.EOF at the table's end. When ctx is done, it soon returns
	// an error.
	ReadAt(ctx context.Context, name string, p []byte, off int64) (n int, err error)
}

// A Mapper is a Source that can map its tables into memory, as a [Dir] can. A [Set] calls Map if Mapped
// of Options.Reader is set.
type Mapper interface {
	// Map returns the mapped table name and its size. src is for [table.NewReader]: it is, for example,
	// a [table.SliceReaderAt]. It stays usable as long as something uses it, even after Forget. If src
	// is nil, the Set reads the table with ReadAt. When ctx is done, Map soon returns an error.
	Map(ctx context.Context, name string) (src io.ReaderAt, size int64, err error)
}

// A Forgetter is a Source that keeps state for each table, such as an open file. A [Set] calls Forget
// when it no longer reads the table, and after [ErrReplaced]. Reads of the table may be running then, whose
// results the Set discards. Forget must not panic: a goroutine of the Set may call it, where no program can
// recover.
type Forgetter interface {
	Forget(name string)
}

// ErrReplaced is wrapped by a Source's error if a table's name now denotes another file or object than
// in earlier reads. If the Source is a [Forgetter], and the manifest has the table's TailSum, the Set calls
// Forget, and the next lookup opens the table again. If it is the same table, such as an object that was
// written again, lookups go on. If not, they fail until the right table is back.
//
// A table without a digest of its data blocks cannot be identified, so its lookups keep failing with
// ErrReplaced. So do Iters that were in the table.
var ErrReplaced = errors.New(
	"the table was replaced since it was opened: try again, or open the set again with its present manifest")

// A file is what a member reads from one opening of the table on. When the Source has forgotten
// the table, since it was replaced, what a file reads may be of another table: it then fails.
type file struct {
	*member
	epoch int64  // the count of replaced at the opening
	tail  []byte // the end of the table while it is being opened: only that is read then
}

// file returns the file for an opening.
func (m *member) file() *file { return &file{member: m, epoch: m.replaced.Load()} }

// read reads len(p) bytes of the table.
func (f *file) read(ctx context.Context, p []byte, off int64) (n int, err error) {
	err = f.ask(ctx, func(ctx context.Context) (err error) {
		n, err = f.s.src.ReadAt(ctx, f.Name, p, off)
		return err
	})
	switch {
	case n < 0 || n > len(p):
		return 0, errors.Join(errors.New(
			"the Source says that it has read more bytes than it was asked for, or fewer than none"), err)
	case errors.Is(err, ErrReplaced):
		return 0, err
	case n < len(p) && err == nil:
		return n, errors.New("the Source has read too few bytes and returned no error")
	}
	return n, err
}

// ask asks the Source for the table, by a call of it. After the table has ended it asks nothing.
func (f *file) ask(ctx context.Context, call func(context.Context) error) error {
	if !f.refs.Acquire() {
		return table.ErrClosed
	}
	defer f.release()
	err := f.s.callSource(ctx, call)
	replaced := errors.Is(err, ErrReplaced)
	if replaced {
		f.forget()
	}
	if replaced || f.epoch == f.replaced.Load() {
		return err
	}
	return errors.Join(err, ErrReplaced)
}

// callSource makes a call of the Source, whose context is done after ReadTimeout.
func (s *Set) callSource(ctx context.Context, call func(context.Context) error) error {
	limit := s.o.ReadTimeout
	if limit == 0 {
		return call(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(limited)
	if err == nil || err == io.EOF || ctx.Err() != nil || limited.Err() == nil {
		return err
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return fmt.Errorf("the Source had no answer within ReadTimeout, %v: %w", limit, err)
}

// forget lets the Source forget the table, if the manifest tells whether it is the same when it is
// opened again.
func (f *file) forget() {
	source, ok := f.s.src.(Forgetter)
	if !ok || f.TailSum == "" || !f.replaced.CompareAndSwap(f.epoch, f.epoch+1) {
		return
	}
	defer f.replaced.Add(1) // what was opened before Forget returns may be of another table
	source.Forget(f.Name)
}

// newResident opens the table, and compares it with the manifest.
func (f *file) newResident(ctx context.Context) (*resident, error) {
	src, err := f.bytes(ctx)
	if src == nil && err == nil {
		src, err = f, f.readTail(ctx)
	}
	if err != nil {
		return nil, err
	}
	share := f.TailSum != "" && f.s.o.Reader.Cache != nil
	r, known, err := f.newReader(src, share)
	if err == nil && share && !known {
		r.Close()
		r, _, err = f.newReader(src, false)
	}
	if err != nil {
		return nil, err
	}
	f.tail = nil // what the Reader needs is in its own memory
	return &resident{m: f.member, reader: r, epoch: f.epoch, filterErr: r.FilterErr()}, nil
}

// bytes returns the bytes of the table, or nil if the table is to be read.
func (f *file) bytes(ctx context.Context) (src io.ReaderAt, err error) {
	m, maps := f.s.src.(Mapper)
	if !maps || !f.s.o.Reader.Mapped {
		return nil, nil
	}
	size := f.Size
	err = f.ask(ctx, func(ctx context.Context) (err error) {
		src, size, err = m.Map(ctx, f.Name)
		return err
	})
	switch {
	case err != nil:
		return nil, f.errorf("mapping its %d bytes: %w", f.Size, err)
	case src != nil && size != f.Size:
		return nil, f.mismatch("size", "the table has %d bytes, want %d", size, f.Size)
	}
	return src, nil
}

// newReader opens the table, and compares it with the manifest. With share, the Reader shares blocks
// in the Cache with all Readers of the table. It is for one that is known: see identify. If the table
// turns out not to be, the Reader must be closed before it is asked for a block.
func (f *file) newReader(src io.ReaderAt, share bool) (r *table.Reader, known bool, err error) {
	o := f.s.o.Reader
	o.Name, o.CacheKey = f.Name, fmt.Sprintf("member %d", f.number)
	if share { // by the TailSum too: only Verify compares the SHA-256 with the table
		o.CacheKey = fmt.Sprintf("%s %s %d", f.SHA256, f.TailSum, f.Size)
	}
	if r, err = table.NewReader(src, f.Size, &o); err != nil {
		return nil, false, err
	}
	sound := false
	defer func() { // also if a policy panics
		if !sound {
			r.Close() // closes no file
		}
	}()
	known, err = f.check(r)
	sound = err == nil
	return r, known, err
}

// largeTail is the size in bytes from which on the tail's memory is not taken before it is known
// that the table has that size.
const largeTail = 16 << 20

// readTail reads the end of the table, which has its filters, metaindex, index and footer. The
// end of the file must be where the manifest says.
func (f *file) readTail(ctx context.Context) error {
	size := f.tailSize.Load()
	if size > largeTail {
		if err := f.readEnd(ctx, make([]byte, 2)); err != nil {
			return err
		}
	}
	if size > math.MaxInt-1 {
		return f.errorf("the tail of %d bytes is too long for the memory of this system", size)
	}
	p := make([]byte, size+1)
	f.tail = p[:size]
	return f.readEnd(ctx, p)
}

// readEnd fills p but for one byte with the end of the table. The one byte must be missing
// because the table ends before it.
func (f *file) readEnd(ctx context.Context, p []byte) error {
	want := len(p) - 1
	off := f.Size - int64(want)
	n, err := f.read(ctx, p, off)
	switch {
	case n == len(p):
		return f.mismatch("size", "the table has more than %d bytes", f.Size)
	case err != io.EOF: // one that is wrapped can be that of a connection
		return f.errorf("reading %d bytes at %d: %w", len(p), off, err)
	case n < want && n > 0:
		return f.mismatch("size", "the table has %d bytes, want %d", off+int64(n), f.Size)
	case n < want:
		return f.mismatch("size", "the table has at most %d bytes, want %d", off, f.Size)
	}
	return nil
}

// ReadAt is ReadAtContext for what has no context, such as Reader.Verify.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	return f.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext reads the table. While that is being opened, it reads only its end.
func (f *file) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if f.tail != nil {
		return f.readFromTail(p, off)
	}
	n, err := f.read(ctx, p, off)
	if n == len(p) {
		f.noteEnd(nil)
		return n, err
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // all that is read is in the table
	}
	err = f.errorf("reading %d bytes at %d: %w", len(p), off, err)
	if ctx.Err() == nil {
		f.noteEnd(err)
	}
	return n, err
}

// readFromTail reads the end of the table from memory.
func (f *file) readFromTail(p []byte, off int64) (int, error) {
	start := f.Size - int64(len(f.tail))
	if off < start {
		return 0, f.mismatch("tailSize",
			"the part at %d is needed to open the table, but the tail of %d bytes starts at %d", off, len(f.tail), start)
	}
	return bytes.NewReader(f.tail).ReadAt(p, off-start)
}
