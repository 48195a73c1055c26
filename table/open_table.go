package table

import (
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// An openTable is what a Reader keeps of its table in memory: the index and the filters. It is immutable, but for the
// search tree of the index.
type openTable struct {
	file  tablefile.File
	sieve sieve
	o     *ReaderOptions

	filterOnly bool  // the properties say that there are no entries, but keys in the filter
	hidden     error // why there may be keys though there are no data blocks; nil: there are none
	refused    error // why keys cannot be looked up; nil: they can
}

// newIndexTable returns an openTable of the first size bytes of r that has its index, but no filters. closed says
// whether the Reader is closed. The source still has the tail of the file in memory. newIndexTable returns the
// metaindex too, in s, if it had to be read, and else nil: decompressed, it can take so much memory that it is read
// once.
func newIndexTable(
	r io.ReaderAt, size int64, o *ReaderOptions, f *tablefile.Options, closed *atomic.Bool, s *tablefile.Scratch,
) (t *openTable, m tablefile.Metaindex, err error) {
	t = &openTable{o: o}
	t.sieve.file, t.sieve.o = &t.file, o
	if f.Order.Unchecked {
		t.refused = errAnyOrder
	}
	if err := t.file.Init(r, size, f, closed); err != nil {
		return nil, nil, err
	}
	if err := t.file.ReadIndex(false); err != nil {
		return nil, nil, err
	}
	m, err = t.file.CheckTailSum(o.TailSum, s)
	return t, m, err
}

// meta returns what reads the blocks that the metaindex lists.
func (t *openTable) meta() metaReader { return metaReader{File: &t.file, o: t.o} }

// openMeta reads the filters, if they are needed, and the metaindex for them into s if it is nil.
func (t *openTable) openMeta(m tablefile.Metaindex, s *tablefile.Scratch) (err error) {
	if t.o.IgnoreFilter && t.file.Index.N > 0 {
		return nil
	}
	if m == nil {
		m, err = t.file.ReadMetaindex(s)
	}
	if err == nil {
		if err := t.openFilterOnly(m, new(tablefile.Scratch)); err != nil || t.o.IgnoreFilter {
			return err
		}
		t.sieve.Filters, err = metaReader{&t.file, t.o, true}.openFilters(m)
		if t.hidden == ErrFilterOnly && !t.sieve.HasTable() {
			return err // there is nothing else
		}
	} else if t.file.Index.N == 0 {
		t.hidden = err
	}
	if unread(err) {
		return err
	}
	if !t.o.IgnoreFilter {
		t.sieve.err = err
	}
	t.sieve.use()
	return nil
}

// openFilterOnly finds out whether a table without data blocks is one, and whether it has a filter only. Its
// properties say so, and then it is damage if there is none. If they are damaged and there is
// a filter of the whole table, keys may be in that. The properties are read into b.
func (t *openTable) openFilterOnly(m tablefile.Metaindex, b *tablefile.Scratch) error {
	if t.file.Index.N > 0 {
		return nil
	}
	if err := t.file.CheckNoData(m); err != nil {
		return err
	}
	p, err := t.meta().readProperties(m, b)
	hasFilter := slices.ContainsFunc(m, func(e tablefile.MetaEntry) bool {
		kind, _ := tablefile.MetaKind(e.Name)
		return kind == tablefile.TableFilterBlock
	})
	switch {
	case errors.Is(err, ErrNotFound):
	case errors.Is(err, ErrCorrupt):
		if hasFilter {
			t.hidden = err
		}
	case err != nil:
		return err
	case p.FilterOnly && p.FilterEntries > 0 && !hasFilter:
		return t.file.Corrupt(tablefile.MetaindexBlock, t.file.Footer.Metaindex,
			"no filter of the table, but the properties say that a filter of %d keys is all it has", p.FilterEntries)
	case p.FilterOnly && p.FilterEntries > 0:
		t.filterOnly, t.hidden = true, ErrFilterOnly
	default:
		t.filterOnly = p.FilterOnly
	}
	return nil
}
