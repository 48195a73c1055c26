package set

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/verified"
	"github.com/sievetable/sievetable/table"
)

// errFilterOnly is the error of Describe for a table that does not have its keys.
var errFilterOnly = errors.New("the table has a filter of its keys, and not the keys: " +
	"its line in the manifest is known to the TableWriter that writes it")

// Describe returns the line in the manifest of an existing table: the first size bytes of r. It is
// the line that the [TableWriter] of the table returned, without the Name, which the caller sets.
// The caller owns the slices.
//
// Describe reads all of the table for its SHA-256, and verifies it as Verify of a [table.Reader]
// does. An error of that is in the chain of the error. A table without entries, and one that has a
// filter only, is an error.
//
// A table of another engine, or of a [table.Writer] without DataDigest, has no digest of its data
// blocks. Its TailSum is that of the tail only, and a [Set] cannot tell the table from one of the
// same keys and other values before Verify. Such a table shares no cached blocks with another Set.
//
// Of o, Describe uses Codecs, MaxBlockSize, FilterPolicies and TableFilterPolicies. A FilterKey is
// an error, and so is a Comparer of another name than that of the bytewise order. o may be nil.
func Describe(r io.ReaderAt, size int64, o *table.ReaderOptions) (Table, error) {
	// Filters are not needed: Verify reads them itself.
	opts := table.ReaderOptions{IgnoreFilter: true}
	if o != nil {
		if err := checkOrder(o.Comparer, o.FilterKey); err != nil {
			return Table{}, err
		}
		opts.Codecs, opts.MaxBlockSize = o.Codecs, o.MaxBlockSize
		opts.FilterPolicies, opts.TableFilterPolicies = o.FilterPolicies, o.TableFilterPolicies
	}
	t, err := describe(r, size, &opts)
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
		return Table{}, errFilterOnly
	}
	var keys verifiedKeys
	if _, err := verified.Verify(reader, keys.add); err != nil {
		return Table{}, err
	}
	t := Table{Size: size, Entries: keys.n, Smallest: keys.first, Largest: keys.last}
	if t.SHA256, err = sumOf(r, size); err != nil {
		return Table{}, err
	}
	if err := t.setTail(r, o); err != nil {
		return Table{}, err
	}
	return t, t.checkFields()
}

// readSize is how many bytes of a table are read at a time.
const readSize = 1 << 20

// sumOf returns the SHA-256 of the first size bytes of r, in hexadecimal.
func sumOf(r io.ReaderAt, size int64) (string, error) {
	sum := sha256.New()
	n, err := io.CopyBuffer(sum, io.NewSectionReader(r, 0, size), make([]byte, readSize))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", fmt.Errorf("read the table at %d: %w", n, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// setTail sets TailSize and TailSum.
func (t *Table) setTail(r io.ReaderAt, o *table.ReaderOptions) error {
	l, err := table.ReadLayout(r, t.Size, o)
	if err != nil {
		return err
	}
	sum, _, err := l.TailSum()
	if err != nil {
		return err
	}
	t.TailSum, t.TailSize = hex.EncodeToString(sum[:]), t.Size
	if n := len(l.Data); n > 0 {
		last := l.Data[n-1] // ReadLayout has checked that it ends before the footer
		t.TailSize -= int64(last.Offset+last.Length) + format.TrailerLen
	}
	return nil
}
