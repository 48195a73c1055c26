package set

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// ErrMismatch is in the chain of the error of a table that is not as its manifest says. Either
// the table was replaced or damaged, or the manifest is of other tables.
//
// Not every such table has this error. One whose footer or index is damaged has a
// [*table.CorruptionError], which is [table.ErrCorrupt]. For one that is missing, the error is
// that of the Source, such as fs.ErrNotExist of a [Dir].
var ErrMismatch = errors.New("table does not match the manifest: take another copy of the table, or write the manifest again")

// mismatch returns an error about a field of the table's line in the manifest.
func (t *Table) mismatch(field, format string, args ...any) error {
	return fmt.Errorf("set: table %q: %s: %s: %w", t.Name, field, fmt.Sprintf(format, args...), ErrMismatch)
}

// errorf returns another error about the table.
func (t *Table) errorf(format string, args ...any) error {
	return fmt.Errorf("set: table %q: %w", t.Name, fmt.Errorf(format, args...))
}

// openReader opens the table, and compares it with the manifest.
func (f file) openReader(ctx context.Context) (*opened, error) {
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
	if s, ok := src.(*source); ok {
		s.tail = nil // what the Reader needs is in its own memory
	}
	return &opened{m: f.member, r: r, epoch: f.epoch, filterErr: r.FilterErr()}, nil
}

// source returns what the table is opened from: its bytes if the Source hands them out, or else its
// end, by one read.
func (f file) source(ctx context.Context) (io.ReaderAt, error) {
	if src, err := f.bytes(ctx); src != nil || err != nil {
		return src, err
	}
	tail, err := f.readTail(ctx)
	return &source{file: f, tail: tail}, err
}

// bytes returns the bytes of the table, or nil if the table is to be read.
func (f file) bytes(ctx context.Context) (src io.ReaderAt, err error) {
	m, maps := f.s.src.(Mapper)
	if !maps || !f.s.o.Reader.Mapped {
		return nil, nil
	}
	size := f.Size
	err = f.ask(func() (err error) {
		src, size, err = m.Map(ctx, f.Name)
		return err
	})
	switch {
	case err != nil:
		return nil, f.errorf("%w", err)
	case src != nil && size != f.Size:
		return nil, f.mismatch("size", "the table has %d bytes, want %d", size, f.Size)
	}
	return src, nil
}

// newReader opens the table, and compares it with the manifest. With share, the Reader shares blocks
// in the Cache with all Readers of the table. It is for one that is known: see identify. If the table
// turns out not to be, the Reader must be closed before it is asked for a block.
func (f file) newReader(src io.ReaderAt, share bool) (r *table.Reader, known bool, err error) {
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

// check compares an open table with its line in the manifest. It reads nothing but the tail, so that
// only Verify can say that all is well. known is that of identify.
func (f file) check(r *table.Reader) (known bool, err error) {
	layout, err := r.Layout()
	if err != nil {
		return false, err
	}
	known, err = f.identify(layout)
	return known, cmp.Or(err, f.checkEntries(r), f.checkRange(r, layout.Data))
}

// identify compares the TailSum of the table with the manifest. known says whether that tells the table
// from all others.
func (f file) identify(l *table.Layout) (known bool, err error) {
	sum, withData, err := l.TailSum()
	if f.TailSum == "" && errors.Is(err, table.ErrCorrupt) {
		return false, nil // nothing is compared, and FilterErr or Verify reports the damage
	}
	if err != nil {
		return false, err
	}
	if got := hex.EncodeToString(sum[:]); f.TailSum != "" && got != f.TailSum {
		return false, f.mismatch("tailSum", "that of the table is %s, want %s", got, f.TailSum)
	}
	known = withData && f.TailSum != ""
	if !known && f.wasReplaced() {
		err = f.errorf("%w, and it has no digest of its data blocks to tell it from others", ErrReplaced)
	}
	return known, err
}

// wasReplaced reports whether the Source has forgotten the table since it was opened first.
func (f file) wasReplaced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checked && f.epoch != f.first
}

// cacheKey returns the CacheKey of the table. One that is not known from all others shares no
// blocks with other members. The TailSum is compared with the table, and the SHA-256 by Verify only: if
// that of a manifest is wrong, it must not show the blocks of another table.
func (f file) cacheKey(known bool) string {
	if known {
		return fmt.Sprintf("%s %s %d", f.SHA256, f.TailSum, f.Size)
	}
	return fmt.Sprintf("member %d", f.number)
}

// largeTail is the size in bytes from which on the tail's memory is not taken before it is known
// that the table has that size.
const largeTail = 16 << 20

// readTail reads the end of the table, which has its filters, metaindex, index and footer. The
// end of the file must be where the manifest says.
func (f file) readTail(ctx context.Context) ([]byte, error) {
	size := f.tailSize.Load()
	if size > largeTail {
		if err := f.readEnd(ctx, make([]byte, 2)); err != nil {
			return nil, err
		}
	}
	if size > math.MaxInt-1 {
		return nil, f.errorf("the tail of %d bytes is too long for the memory of this system", size)
	}
	p := make([]byte, size+1)
	err := f.readEnd(ctx, p)
	return p[:size], err
}

// readEnd fills p but for one byte with the end of the table. The one byte must be missing
// because the table ends before it.
func (f file) readEnd(ctx context.Context, p []byte) error {
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

// A source is what the Reader of a table reads.
type source struct {
	file
	tail []byte // the end of the table until it is open, then nil
}

// ReadAt is ReadAtContext for what has no context, such as Reader.Verify.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	return s.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext reads the table. Until that is open, it reads only its end.
func (s *source) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if s.tail != nil {
		return s.readFromTail(p, off)
	}
	n, err := s.read(ctx, p, off)
	if n == len(p) {
		return n, err
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // all that is read is in the table
	}
	return n, s.errorf("reading %d bytes at %d: %w", len(p), off, err)
}

func (s *source) readFromTail(p []byte, off int64) (int, error) {
	start := s.Size - int64(len(s.tail))
	if off < start {
		return 0, s.outsideTail(off, len(s.tail))
	}
	return bytes.NewReader(s.tail).ReadAt(p, off-start)
}

// outsideTail returns the error of a table that cannot be opened from its tail.
func (t *Table) outsideTail(off int64, tail int) error {
	return t.mismatch("tailSize", "the part at %d is needed to open the table, but the tail of %d bytes starts at %d", off, tail, t.Size-int64(tail))
}

// checkEntries compares the number of entries with the properties, if the table has any.
// Damaged properties do not matter to lookups: Verify reports them.
func (m *member) checkEntries(r *table.Reader) error {
	p, err := r.Properties()
	if err != nil {
		return nil
	}
	entries := p.Entries
	if r.FilterOnly() {
		entries = p.FilterEntries
	}
	if entries != m.Entries {
		return m.mismatch("entries", "the table has %d, want %d", entries, m.Entries)
	}
	return nil
}

// checkRange compares the range of keys with the index and the filters: Smallest must be in the first
// data block and Largest in the last one.
func (m *member) checkRange(r *table.Reader, blocks []table.IndexEntry) error {
	if err := m.checkIndex(r, blocks); err != nil {
		return err
	}
	for _, end := range []struct {
		field string
		key   []byte
	}{{"smallest", m.Smallest}, {"largest", m.Largest}} {
		if !r.MayContain(end.key) {
			return m.mismatch(end.field, "the filters of the table deny its key %s", wire.Quote(end.key))
		}
	}
	return nil
}

// checkIndex compares the range of keys with the index.
func (m *member) checkIndex(r *table.Reader, blocks []table.IndexEntry) error {
	n := len(blocks)
	switch {
	case n == 0 && r.FilterOnly():
		return nil
	case n == 0:
		return m.mismatch("entries", "the table has none, want %d", m.Entries)
	case bytes.Compare(blocks[0].Separator, m.Smallest) < 0:
		return m.mismatch("smallest", "the first data block has keys ≤ %s, want %s in it", wire.Quote(blocks[0].Separator), wire.Quote(m.Smallest))
	case bytes.Compare(blocks[n-1].Separator, m.Largest) < 0:
		return m.mismatch("largest", "all keys are ≤ %s, want %s among them", wire.Quote(blocks[n-1].Separator), wire.Quote(m.Largest))
	case n > 1 && bytes.Compare(blocks[n-2].Separator, m.Largest) >= 0:
		return m.mismatch("largest", "the last data block has keys > %s, want %s in it", wire.Quote(blocks[n-2].Separator), wire.Quote(m.Largest))
	}
	return nil
}
