package set

import (
	"bytes"
	"context"
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
var ErrMismatch = errors.New("it is not the table of the manifest: take another copy of the table, or write the manifest anew")

// mismatch returns an error about a field of the table's line in the manifest.
func (t *Table) mismatch(field, format string, args ...any) error {
	return fmt.Errorf("set: table %q: %s: %s: %w", t.Name, field, fmt.Sprintf(format, args...), ErrMismatch)
}

// errorf returns another error about the table.
func (t *Table) errorf(format string, args ...any) error {
	return fmt.Errorf("set: table %q: %w", t.Name, fmt.Errorf(format, args...))
}

// openReader reads the end of the table, by one read, and opens the table from that. It compares
// the table with the manifest.
func (m *member) openReader(ctx context.Context) (*table.Reader, error) {
	tail, err := m.readTail(ctx)
	if err != nil {
		return nil, err
	}
	src := &source{m: m, tail: tail}
	o := m.s.o.Reader
	o.Name, o.CacheKey = m.Name, fmt.Sprintf("%s %d", m.SHA256, m.Size)
	r, err := table.NewReader(src, m.Size, &o)
	if err != nil {
		return nil, err
	}
	if err := m.checkReader(r, src); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	src.tail = nil // what the Reader needs is in its own memory
	return r, nil
}

// largeTail is the size in bytes from which on the tail's memory is not taken before it is known
// that the table has that size.
const largeTail = 16 << 20

// readTail reads the end of the table, which has its filters, metaindex, index and footer. The
// end of the file must be where the manifest says.
func (m *member) readTail(ctx context.Context) ([]byte, error) {
	size := m.tailSize.Load()
	if size > largeTail {
		if err := m.readEnd(ctx, make([]byte, 2)); err != nil {
			return nil, err
		}
	}
	if size > math.MaxInt-1 {
		return nil, m.errorf("the tail of %d bytes is too long for the memory of this system", size)
	}
	p := make([]byte, size+1)
	err := m.readEnd(ctx, p)
	return p[:size], err
}

// readEnd fills p but for one byte with the end of the table. The one byte must be missing
// because the table ends before it.
func (m *member) readEnd(ctx context.Context, p []byte) error {
	want := len(p) - 1
	off := m.Size - int64(want)
	n, err := m.read(ctx, p, off)
	switch {
	case n == len(p):
		return m.mismatch("size", "the table has more than %d bytes", m.Size)
	case err != io.EOF: // one that is wrapped can be that of a connection
		return m.errorf("reading %d bytes at %d: %w", len(p), off, err)
	case n < want && n > 0:
		return m.mismatch("size", "the table has %d bytes, want %d", off+int64(n), m.Size)
	case n < want:
		return m.mismatch("size", "the table has at most %d bytes, want %d", off, m.Size)
	}
	return nil
}

// A source is what the Reader of a table reads.
type source struct {
	m    *member
	tail []byte // the end of the table until it is open, then nil
}

// ReadAt is ReadAtContext for what has no context, such as Reader.Verify.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	return s.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext reads the table. Until that is open, it reads only its end.
func (s *source) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if s.tail != nil {
		return s.readTail(p, off)
	}
	n, err := s.m.read(ctx, p, off)
	if n == len(p) {
		return n, err
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // all that is read is in the table
	}
	return n, s.m.errorf("reading %d bytes at %d: %w", len(p), off, err)
}

func (s *source) readTail(p []byte, off int64) (int, error) {
	start := s.m.Size - int64(len(s.tail))
	if off < start {
		return 0, s.m.outsideTail(off, len(s.tail))
	}
	return bytes.NewReader(s.tail).ReadAt(p, off-start)
}

// outsideTail returns the error of a table that cannot be opened from its tail.
func (t *Table) outsideTail(off int64, tail int) error {
	return t.mismatch("tailSize", "the part at %d is needed to open the table, but the tail of %d bytes starts at %d", off, tail, t.Size-int64(tail))
}

// checkReader compares an open table with its line in the manifest. It reads nothing but the
// tail, so that only Verify can say that all is well.
func (m *member) checkReader(r *table.Reader, src io.ReaderAt) error {
	layout, err := table.ReadLayout(src, m.Size, &m.s.o.Reader)
	if err != nil {
		return err
	}
	if err := m.checkEntries(r); err != nil {
		return err
	}
	if err := m.checkIndex(r, layout.Data); err != nil {
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

// checkIndex compares the range of keys with the index: Smallest must be in the first data block
// and Largest in the last one.
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
