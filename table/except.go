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
	"github.com/sievetable/sievetable/table/layout"
)

// Except writes a copy of the table to w, with the keys that its table filter reports by mistake as further exceptions:
// see WriterOptions.Never. It returns how many exceptions are new.
//
// keys yields keys for Get or, with an InternalComparer, for Find, in any order. If one is in the table, or may be a
// prefix that the filter holds, Except returns an error that wraps ErrNever and names it, and writes nothing. A table
// that has only a filter cannot be checked: the caller must know that none of its keys is among keys.
//
// Everything else is copied as it is, without checking it: call Verify before. If the table is from a Writer with the
// default RestartInterval, the copy has the bytes that the Writer would have written with keys as Never. The new
// exceptions take memory.
func (r *Reader) Except(w io.Writer, keys iter.Seq2[[]byte, error]) (added int, err error) {
	t, err := r.table()
	if err == nil {
		err = cmp.Or(t.startLookups(0), r.FilterErr(), r.checkExceptable(t))
	}
	src := r.source()
	if err == nil && src == nil {
		err = ErrClosed
	}
	if err != nil {
		return 0, err
	}
	err = t.file.WithMetaindex(func(m tablefile.Metaindex) error {
		contains, err := t.storedFilter(m)
		if err != nil {
			return err
		}
		exceptions, err := r.newExceptions(t, contains, keys)
		if err != nil {
			return err
		}
		added = len(exceptions)
		return t.copyWith(w, src, m, exceptions)
	})
	return added, err
}

// checkExceptable returns an error if the table cannot have exceptions, or if prefixes could become some.
func (r *Reader) checkExceptable(t *openTable) error {
	if t.sieve.Table == nil && t.sieve.Pages == nil && t.file.Index.N > 0 {
		return r.o.errorf("there is no filter of the whole table, which exceptions belong to")
	}
	p, err := r.Properties()
	if err == nil && p.FilterPrefix != "" && p.FilterEntries > 0 && t.sieve.Prefix == nil {
		return r.o.errorf("the filters hold prefixes by %.100q: add that function to ReaderOptions.FilterPrefixes, so that no prefix becomes an exception", p.FilterPrefix)
	}
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// storedFilter returns what the table filter contains as it is stored: a Reader can have a narrowed one.
func (t *openTable) storedFilter(m tablefile.Metaindex) (contains func(filterKey []byte) (bool, error), err error) {
	switch {
	case t.sieve.Table != nil:
		var stored layout.Filters
		f := metaReader{File: &t.file, o: t.o}
		err = f.readFilter(&stored, best(f.metaBlocks(m, nil), tablefile.TableFilterBlock))
		return func(filterKey []byte) (bool, error) { return stored.Table.Contains(filterKey), nil }, err
	case t.sieve.Pages != nil:
		return t.sieve.pageContains, nil
	}
	return func([]byte) (bool, error) { return false, nil }, nil // there are no keys either
}

// newExceptions returns the filter keys of keys that the table filter reports by mistake, in bytewise order. They do not
// include those that are exceptions already.
func (r *Reader) newExceptions(t *openTable, contains func(filterKey []byte) (bool, error), keys iter.Seq2[[]byte, error]) (exceptions [][]byte, err error) {
	for key, err := range keys {
		if err != nil {
			return nil, err
		}
		filterKey := bytes.Clone(filterKeyOf(t.o.FilterKey, key))
		if filterKey == nil {
			return nil, t.o.errorf("key %s has no filter key: no filter can deny it", format.Quote(key))
		}
		found, err := contains(filterKey)
		if err == nil && found && !t.sieve.Never.Contains(filterKey) {
			err = r.checkAbsent(t, key, filterKey)
			exceptions = append(exceptions, filterKey)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(exceptions, bytes.Compare)
	return slices.CompactFunc(exceptions, bytes.Equal), nil
}

// checkAbsent returns an error if the table has an entry of the filter key of key, or if that may be a prefix that the
// filter holds.
func (r *Reader) checkAbsent(t *openTable, key, filterKey []byte) error {
	next, found, err := r.findFilterKey(t, key, filterKey)
	switch {
	case err != nil && err != ErrNotFound && err != ErrFilterOnly:
		return err
	case found:
		return fmt.Errorf("%w: %s is in the table: as an exception it would not be found", ErrNever, format.Quote(filterKey))
	case t.sieve.Prefix == nil || len(filterKey) == 0 || len(prefixOf(t.sieve.Prefix, filterKey)) < len(filterKey):
		return nil // not a prefix
	}
	areNeighbors := t.file.Order().Bytewise() && (t.o.FilterKey == nil || t.o.filtersUserKeys) // keys of a prefix
	if areNeighbors && (err == ErrNotFound || err == nil && !bytes.HasPrefix(filterKeyOf(t.o.FilterKey, next), filterKey)) {
		return nil
	}
	return fmt.Errorf("%w: %s may be a prefix that the filter holds: as an exception, MayContain would deny it", ErrNever, format.Quote(filterKey))
}

// findFilterKey looks for an entry of the filter key of key, without filters. next is the key of the first one behind
// the place where it would be. All entries of a filter key are neighbors.
func (r *Reader) findFilterKey(t *openTable, key, filterKey []byte) (next []byte, found bool, err error) {
	if t.o.filtersUserKeys {
		key = SearchKey(nil, filterKey, MaxSequence)
	}
	next, _, err = t.lookup(query{key: key, match: atOrAfter, guarded: true}, &noOptions)
	found = err == nil && t.sameFilterKey(next, filterKey)
	if found || err != nil && err != ErrNotFound || t.o.FilterKey == nil || t.o.filtersUserKeys {
		return next, found, err
	}
	it := r.NewIter(nil) // a FilterKey of the user's: an entry may be before key
	defer it.Close()     // returns Error again
	found = it.SeekLT(key) && t.sameFilterKey(it.Key(), filterKey)
	return nil, found, cmp.Or(it.Error(), err)
}

// copyWith writes the table to w with more exceptions, which are in bytewise order. Other blocks keep their places, but
// for metaindex and index: these come last, as those of a Writer do.
func (t *openTable) copyWith(w io.Writer, src io.ReaderAt, m tablefile.Metaindex, more [][]byte) error {
	end, kept, err := t.keptMeta(m)
	if err != nil {
		return err
	}
	f := tablefile.Footer{Index: t.file.Footer.Index}
	behind, err := t.appendMeta(end, kept, more, &f)
	if err != nil {
		return err
	}
	index := io.NewSectionReader(src, int64(f.Index.Offset), int64(f.Index.Length+format.TrailerLen))
	f.Index.Offset = end + uint64(len(behind))
	for _, part := range []sizedReader{io.NewSectionReader(src, 0, int64(end)), bytes.NewReader(behind), index, bytes.NewReader(f.Append(nil))} {
		n, err := io.Copy(w, part)
		if err == nil && n < part.Size() {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return t.o.errorf("copying the table: %w", err)
		}
	}
	return nil
}

// A sizedReader is an io.SectionReader or a bytes.Reader.
type sizedReader interface {
	io.Reader
	Size() int64
}

// keptMeta returns the entries of the metaindex but for exceptions, and where the blocks that keep their places end.
func (t *openTable) keptMeta(m tablefile.Metaindex) (end uint64, kept tablefile.Metaindex, err error) {
	if err := t.file.Index.CheckAll(func(_ int, _ []byte, h tablefile.Handle) { end = max(end, h.End()) }); err != nil {
		return 0, nil, err
	}
	for _, e := range m {
		kind, _ := tablefile.MetaKind(e.Name)
		if kind == tablefile.NeverBlock {
			continue
		}
		h, err := t.file.MetaHandle(kind, e.Handle)
		if err != nil {
			return 0, nil, err
		}
		end, kept = max(end, h.End()), append(kept, e)
	}
	return end, kept, nil
}

// appendMeta returns the blocks that follow at end: the exceptions, if there is a filter, and the metaindex that lists
// them and meta. It sets the handle in f.
func (t *openTable) appendMeta(end uint64, meta tablefile.Metaindex, more [][]byte, f *tablefile.Footer) (blocks []byte, err error) {
	add := func(n int, entry func(i int) (key, value []byte)) (tablefile.Handle, error) {
		contents, err := encodeBlock(block.DefaultRestartInterval, n, entry)
		h := tablefile.Handle{Offset: end + uint64(len(blocks)), Length: uint64(len(contents))}
		trailer := trailerOf(contents, NoCompression.ID())
		blocks = append(append(blocks, contents...), trailer[:]...)
		return h, err
	}
	if t.sieve.Table != nil || t.sieve.Pages != nil {
		keys, err := t.allExceptions(more)
		if err != nil {
			return nil, err
		}
		h, err := add(len(keys), func(i int) (key, value []byte) { return keys[i], nil })
		if err != nil {
			return nil, err
		}
		meta = append(meta, tablefile.MetaEntry{Name: []byte(format.NeverName), Handle: h.Append(nil)})
		slices.SortFunc(meta, func(a, b tablefile.MetaEntry) int { return bytes.Compare(a.Name, b.Name) })
	}
	f.Metaindex, err = add(len(meta), func(i int) (name, handle []byte) { return meta[i].Name, meta[i].Handle })
	return blocks, err
}

// allExceptions returns the exceptions of the table and more, in bytewise order.
func (t *openTable) allExceptions(more [][]byte) ([][]byte, error) {
	left := maxExpansion * t.sieve.NeverEntry.Length
	for key := range t.sieve.Never.All() {
		if uint64(len(key)) > left {
			return nil, t.o.errorf("the exceptions are, together, over %d times as long as their block", maxExpansion)
		}
		left -= uint64(len(key))
		more = append(more, bytes.Clone(key))
	}
	slices.SortFunc(more, bytes.Compare)
	return more, nil
}
