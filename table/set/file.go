package set

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"

	"github.com/sievetable/sievetable/table"
)

// A file is what a member reads from one opening of the table on. When the Source has forgotten
// the table, since it was replaced, what a file reads may be of another table: it then fails.
type file struct {
	*member
	epoch int64  // the count of replaced at the opening
	tail  []byte // the end of the table while it is being opened: only that is read then
}

// file returns the file for an opening.
func (m *member) file() *file { return &file{member: m, epoch: m.replaced.Load()} }

var (
	errMiscount = errors.New(
		"the Source says that it has read more bytes than it was asked for, or fewer than none")
	errShort = errors.New("the Source has read too few bytes and returned no error")
)

// read reads len(p) bytes of the table.
func (f *file) read(ctx context.Context, p []byte, off int64) (n int, err error) {
	err = f.ask(ctx, func(ctx context.Context) (err error) {
		n, err = f.s.src.ReadAt(ctx, f.Name, p, off)
		return err
	})
	switch {
	case n < 0 || n > len(p):
		return 0, errors.Join(errMiscount, err)
	case errors.Is(err, ErrReplaced):
		return 0, err
	case n < len(p) && err == nil:
		return n, errShort
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
	src, err := f.source(ctx)
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

// source returns what the table is opened from: its bytes if the Source hands them out, or else its
// end, by one read.
func (f *file) source(ctx context.Context) (io.ReaderAt, error) {
	if src, err := f.bytes(ctx); src != nil || err != nil {
		return src, err
	}
	return f, f.readTail(ctx)
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
	o.Name, o.CacheKey = f.Name, f.cacheKey(share)
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
		return 0, f.outsideTail(off, len(f.tail))
	}
	return bytes.NewReader(f.tail).ReadAt(p, off-start)
}
