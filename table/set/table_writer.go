package set

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// A TableWriter is a [table.Writer] that writes a digest of the data blocks, and whose Close also returns the table's
// line in the manifest. Call the TableWriter's Append and Close, not the Writer's.
type TableWriter struct {
	*table.Writer
	sum  hash.Hash
	keys tableKeys
	err  error
}

// NewTableWriter returns a TableWriter that writes to w. If o is nil, the defaults are used. A FilterKey, or a
// Comparer that is not bytewise, is an error.
func NewTableWriter(w io.Writer, o *table.WriterOptions) (*TableWriter, error) {
	if w == nil {
		return nil, errors.New("set: nil io.Writer")
	}
	opts := *cmp.Or(o, &table.WriterOptions{})
	if err := checkOrder(opts.Comparer, opts.FilterKey); err != nil {
		return nil, err
	}
	opts.DataDigest = true
	sum := sha256.New()
	writer, err := table.NewWriter(io.MultiWriter(w, sum), &opts)
	if err != nil {
		return nil, err
	}
	return &TableWriter{Writer: writer, sum: sum}, nil
}

// checkOrder checks that c, if it is not nil, is the bytewise order, and that there is no
// FilterKey.
func checkOrder(c table.Comparer, filterKey func([]byte) []byte) error {
	if want := table.BytewiseComparer.Name(); c != nil && c.Name() != want {
		return fmt.Errorf("set: Comparer is %q: must be %q or nil, since a set's keys are in bytewise order",
			c.Name(), want)
	}
	if filterKey != nil {
		return errors.New("set: FilterKey must not be set: a set's filters contain whole keys")
	}
	return nil
}

// Append adds an entry: see Append of [table.Writer]. Keys have at most 256 KiB.
func (w *TableWriter) Append(key, value []byte) error {
	if w.err != nil {
		return w.err
	}
	if len(key) > maxKey {
		w.err = fmt.Errorf("set: key of %d bytes exceeds the limit of %d", len(key), maxKey)
		return w.err
	}
	if err := w.Writer.Append(key, value); err != nil {
		return err
	}
	w.keys.add(key, 0, 0)
	return nil
}

// Close finishes the table and returns its line in the manifest, for the caller to set the Name. A table without
// entries is an error.
func (w *TableWriter) Close() (Table, error) {
	if err := w.err; err != nil {
		w.err = nil // from now on it is ErrClosed
		return Table{}, errors.Join(err, w.Abort())
	}
	if err := w.Writer.Close(); err != nil {
		return Table{}, err
	}
	tailSum := w.TailSum()
	t := Table{
		Size: w.Size(), SHA256: hex.EncodeToString(w.sum.Sum(nil)), Entries: uint64(w.Entries()),
		Smallest: w.keys.first, Largest: w.keys.last, TailSize: w.TailSize(),
		TailSum: hex.EncodeToString(tailSum[:]),
	}
	t.FilterSize, t.FilterBits = w.TableFilter()
	if err := t.checkFields(); err != nil {
		return Table{}, fmt.Errorf("set: the table: %w", err)
	}
	return t, nil
}

// Describe verifies an existing table, the first size bytes of r, and returns its line in the manifest. The caller
// sets the Name. The table must have entries. If it was not written with DataDigest, see [ErrNotIdentified]. If o is
// nil, the defaults are used. Describe uses Codecs, MaxBlockSize, FilterPolicies and TableFilterPolicies, and
// rejects a FilterKey or a Comparer that is not bytewise.
func Describe(r io.ReaderAt, size int64, o *table.ReaderOptions) (Table, error) {
	o = cmp.Or(o, &table.ReaderOptions{})
	if err := checkOrder(o.Comparer, o.FilterKey); err != nil {
		return Table{}, err
	}
	t, err := describe(r, size, &table.ReaderOptions{
		IgnoreFilter: true, // Verify reads filters itself
		Codecs:       o.Codecs, MaxBlockSize: o.MaxBlockSize,
		FilterPolicies: o.FilterPolicies, TableFilterPolicies: o.TableFilterPolicies,
	})
	if err != nil {
		return Table{}, fmt.Errorf("set: %w", err)
	}
	return t, nil
}

func describe(r io.ReaderAt, size int64, o *table.ReaderOptions) (Table, error) {
	reader, err := table.NewReader(r, size, o)
	if err != nil {
		return Table{}, err
	}
	defer reader.Close()
	if reader.FilterOnly() {
		return Table{}, errors.New("the table has only a filter, not its keys: " +
			"only the TableWriter that writes it can describe it")
	}
	var keys tableKeys
	if _, err := reader.VerifyKeys(keys.add); err != nil {
		return Table{}, err
	}
	l, err := table.ReadLayout(r, size, o)
	if err != nil {
		return Table{}, err
	}
	tailSum, _, err := l.TailSum()
	if err != nil {
		return Table{}, err
	}
	t := Table{
		Size: size, Entries: keys.n, Smallest: keys.first, Largest: keys.last,
		TailSum: hex.EncodeToString(tailSum[:]), TailSize: size,
	}
	if n := len(l.Data); n > 0 {
		last := l.Data[n-1] // ReadLayout has checked that it ends before the footer
		t.TailSize -= int64(last.Offset+last.Length) + format.TrailerLen
	}
	if err := t.describeFilter(l); err != nil {
		return Table{}, err
	}
	if t.SHA256, err = sumOf(r, size); err != nil {
		return Table{}, err
	}
	return t, t.checkFields()
}

// describeFilter sets FilterSize and FilterBits, unless the filter's policy is unknown. Pages of a filter that follow the
// data are not in the tail.
func (t *Table) describeFilter(l *layout.Layout) error {
	filters, err := l.Filters()
	if err != nil && !errors.Is(err, table.ErrUnknownFilter) {
		return err
	}
	if filters.Table != nil {
		t.FilterSize = int64(filters.TableEntry.Length)
	}
	if filters.NeverEntry.Name == "" {
		t.FilterBits = filters.TableBits
	}
	if filters.Pages != nil && int64(filters.TableEntry.Offset) == t.Size-t.TailSize {
		n, size := filters.Pages.Pages()
		t.TailSize -= int64(n) * int64(size)
	}
	return nil
}

// sumOf returns the SHA-256 of the first size bytes of r, in hexadecimal.
func sumOf(r io.ReaderAt, size int64) (string, error) {
	sum := sha256.New()
	n, err := io.CopyBuffer(sum, io.NewSectionReader(r, 0, size), make([]byte, chunkSize))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", fmt.Errorf("read the table at %d: %w", n, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
