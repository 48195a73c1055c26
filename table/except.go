package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// Except writes a copy of the table to w, with the table filter's false positives among filterKeys as exceptions: see
// [WriterOptions].Never. It returns the number of new ones. filterKeys yields keys or, with an InternalComparer, user
// keys, in any order, as [filter.FalsePositives] does. Without a table filter, or with a FilterKey of your own, it
// returns an error.
//
// If a key is in the table, or may be a prefix that the filter contains, Except writes nothing and the error wraps
// ErrNever. In a table with only a filter, only prefixes are checked. The rest is copied unchecked: call Verify before.
func (r *Reader) Except(w io.Writer, filterKeys iter.Seq2[[]byte, error]) (added int, err error) {
	t, err := r.table()
	if err == nil {
		err = cmp.Or(t.startLookups(0, exact), r.FilterErr(), r.checkExceptable(t))
	}
	src, closed := r.reads()
	if err = cmp.Or(err, closed); err != nil {
		return 0, err
	}
	err = t.file.WithMetaindex(func(m tablefile.Metaindex) error {
		contains, err := t.storedFilter(m)
		if err != nil {
			return err
		}
		exceptions, err := t.moreExceptions(contains, filterKeys, r.lookups)
		if err != nil {
			return err
		}
		added = len(exceptions) - t.sieve.Never.Len()
		return t.copyWith(w, src, m, exceptions)
	})
	return added, err
}

// checkExceptable returns an error if the table cannot have exceptions, or if some could not be checked.
func (r *Reader) checkExceptable(t *openTable) error {
	switch p, err := r.Properties(); {
	case !t.sieve.HasTable() && (t.file.Index.N > 0 || t.hidden != nil):
		return r.o.errorf("exceptions belong to a table filter, and there is none: write the table with one, and do not set IgnoreFilter")
	case t.o.FilterKey != nil && !t.o.filtersUserKeys:
		return r.o.errorf("keys of a FilterKey of your own cannot be checked: write the table with them as Never")
	case err == nil && p.FilterPrefix != "" && p.FilterEntries > 0 && t.sieve.Prefix == nil:
		return r.o.errorf("the filters hold prefixes by %.100q: add that function to ReaderOptions.FilterPrefixes, so that no prefix becomes an exception", p.FilterPrefix)
	case errors.Is(err, ErrNotFound):
		return nil
	default:
		return err
	}
}

// storedFilter returns a function that checks the table filter as stored: the Reader's own can be narrowed.
func (t *openTable) storedFilter(m tablefile.Metaindex) (contains func(filterKey []byte) (bool, error), err error) {
	if t.sieve.Table == nil {
		return func(key []byte) (bool, error) { return t.sieve.pageContains(key, &tablefile.ReadOptions{NoFill: true}) }, nil
	}
	var stored layout.Filters
	err = t.readFilter(&stored, best(t.metaBlocks(m, nil), tablefile.TableFilterBlock))
	return func(filterKey []byte) (bool, error) { return stored.Table.Contains(filterKey), nil }, err
}

// moreExceptions returns the table's exceptions and the filter keys that are false positives of the table filter, in
// bytewise order.
func (t *openTable) moreExceptions(
	contains func(filterKey []byte) (bool, error), filterKeys iter.Seq2[[]byte, error], o tablefile.ReadOptions,
) (all [][]byte, err error) {
	left := maxExpansion * t.sieve.NeverEntry.Length
	for key := range t.sieve.Never.All() {
		if uint64(len(key)) > left {
			return nil, t.o.errorf("the exceptions are, together, over %d times as long as their block", maxExpansion)
		}
		left, all = left-uint64(len(key)), append(all, bytes.Clone(key))
	}
	for filterKey, err := range filterKeys {
		reported := false
		if err == nil && t.sieve.HasTable() && !t.sieve.Never.Contains(filterKey) {
			reported, err = contains(filterKey)
		}
		if reported {
			filterKey = append([]byte{}, filterKey...)
			all, err = append(all, filterKey), t.checkAbsent(filterKey, o)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal), nil
}

// checkAbsent returns an error if the table contains the filter key, or if it may be a prefix that the filter holds.
func (t *openTable) checkAbsent(filterKey []byte, o tablefile.ReadOptions) error {
	key := filterKey
	if t.o.filtersUserKeys {
		key = internalkey.SearchKey(nil, filterKey, internalkey.MaxSequence)
	}
	next, _, err := t.lookup(query{key: key, match: atOrAfter, guarded: true}, &lookupOptions{ReadOptions: o})
	switch {
	case err != nil && err != ErrNotFound && err != ErrFilterOnly:
		return err
	case err == nil && t.sameFilterKey(next, filterKey):
		return fmt.Errorf("%w: %s is in the table", ErrNever, format.Quote(filterKey))
	case t.sieve.Prefix == nil || len(filterKey) == 0 || len(prefixOf(t.sieve.Prefix, filterKey)) < len(filterKey):
		return nil // not a prefix
	case !t.file.Order().Bytewise(): // only in bytewise order do all keys with a prefix follow it
	case err == ErrNotFound, err == nil && !bytes.HasPrefix(filterKeyOf(t.o.FilterKey, next), filterKey):
		return nil
	}
	return fmt.Errorf("%w: %s may be a prefix in the filter", ErrNever, format.Quote(filterKey))
}

// copyWith writes the table to w with these exceptions. The other blocks keep their offsets, except metaindex and
// index, which come last, as a Writer writes them.
func (t *openTable) copyWith(w io.Writer, src io.ReaderAt, m tablefile.Metaindex, exceptions [][]byte) error {
	tail := &Writer{o: WriterOptions{RestartInterval: block.DefaultRestartInterval}, out: &sink{w: w}}
	if t.sieve.HasTable() {
		tail.never, tail.properties.FilterEntries = &neverList{exceptions: exceptions}, 1
	}
	if err := t.keepBlocks(tail, m); err != nil {
		return err
	}
	f := t.file.Footer
	if err := t.copyBytes(w, src, 0, tail.offset); err != nil {
		return err
	}
	err := tail.writeExceptions()
	if err == nil {
		f.Metaindex, err = tail.listMeta()
	}
	if tail.out.flush(); err != nil || tail.out.err != nil {
		return cmp.Or(err, tail.out.err)
	}
	if err := t.copyBytes(w, src, f.Index.Offset, f.Index.Length+format.TrailerLen); err != nil {
		return err
	}
	f.Index.Offset = tail.offset
	_, err = w.Write(f.Append(nil))
	return err
}

// keepBlocks sets the offset of the tail, after all data and meta blocks except exceptions, and lists these meta
// blocks.
func (t *openTable) keepBlocks(tail *Writer, m tablefile.Metaindex) error {
	keep := func(h tablefile.Handle) { tail.offset = max(tail.offset, h.End()) }
	if err := t.file.Index.CheckAll(func(_ int, _ []byte, h tablefile.Handle) { keep(h) }); err != nil {
		return err
	}
	for _, e := range m {
		if e.Err != nil {
			return e.Err
		}
		if e.Kind != tablefile.NeverBlock {
			keep(e.Handle)
			tail.meta = append(tail.meta, listedBlock{name: string(e.Name), Handle: e.Handle})
		}
	}
	return nil
}

// copyBytes copies n bytes at off.
func (t *openTable) copyBytes(w io.Writer, src io.ReaderAt, off, n uint64) error {
	_, err := io.CopyN(w, io.NewSectionReader(src, int64(off), int64(n)), int64(n))
	switch {
	case err == nil:
		return nil
	case t.file.Closed.Load(): // the source's error is about a closed file
		return ErrClosed
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return t.o.errorf("copying %d bytes at %d: %w", n, off, err)
}
