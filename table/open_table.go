package table

import (
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// An openTable is the part of a table that a Reader keeps in memory: the index and the filters. It is immutable,
// except for the search tree over the index.
type openTable struct {
	file  tablefile.File
	sieve sieve
	o     *ReaderOptions

	byPage     bool  // table filters are read by the page if their policy can
	filterOnly bool  // the properties say that there are no entries, but keys in the filter
	hidden     error // why there may be keys although there are no data blocks, or nil
	refused    error // why keys cannot be looked up, or nil
}

// readIndex returns an openTable with the index, but without filters. It still has the file's tail in memory. If
// readIndex had to read the metaindex, it returns it too, in b: decompressed, it can take much memory, so it is read
// only once.
func (s *source) readIndex(b *tablefile.Scratch) (t *openTable, m tablefile.Metaindex, err error) {
	t = &openTable{o: &s.o}
	t.sieve.file, t.sieve.o = &t.file, t.o
	if s.fileOptions.Order.Unchecked {
		t.refused = errAnyOrder
	}
	if err := t.file.Init(s.src, s.size, &s.fileOptions, &s.closed); err != nil {
		return nil, nil, err
	}
	if err := t.file.ReadIndex(false); err != nil {
		return nil, nil, err
	}
	if s.o.TailSum != [sha256.Size]byte{} {
		m, err = t.file.CheckTailSum(s.o.TailSum, b)
	}
	return t, m, err
}

// openMeta reads the filters, if they are needed. If m is nil, it first reads the metaindex into s.
func (t *openTable) openMeta(m tablefile.Metaindex, s *tablefile.Scratch) (err error) {
	t.byPage = true
	if t.o.IgnoreFilter && t.file.Index.N > 0 {
		return nil
	}
	if m == nil {
		m, err = t.file.ReadMetaindex(s)
	}
	if err == nil && t.file.Index.N == 0 {
		if err := t.openFilterOnly(m, s); err != nil || t.o.IgnoreFilter {
			return err
		}
	}
	if err == nil {
		t.sieve.Filters, err = t.openFilters(m, s)
		if t.hidden == ErrFilterOnly && !t.sieve.HasTable() {
			return err // there is nothing else
		}
	} else if t.file.Index.N == 0 {
		t.hidden = err
	}
	if isReadError(err) {
		return err
	}
	if !t.o.IgnoreFilter {
		t.sieve.err = err
	}
	if t.o.FilterKey == nil {
		t.sieve.byHash, _ = t.sieve.Table.(hashFilter)
	}
	if t.sieve.Blocks != nil {
		t.file.Index.Filters = t.sieve.Blocks
	}
	return nil
}

// openFilterOnly checks that a table without data blocks is sound, and whether it is filter-only. Its properties say
// so: if it then has no table filter, it is corrupt. If the properties are corrupt and it has a table filter, that
// may contain keys.
func (t *openTable) openFilterOnly(m tablefile.Metaindex, s *tablefile.Scratch) error {
	if err := t.file.CheckNoData(m); err != nil {
		return err
	}
	p, err := t.findProperties(m, format.PropertiesName, s)
	hasFilter := slices.ContainsFunc(m, func(e tablefile.MetaEntry) bool {
		return e.Kind == tablefile.TableFilterBlock
	})
	switch {
	case errors.Is(err, ErrCorrupt):
		if hasFilter {
			t.hidden = err
		}
	case err != nil || p == nil:
		return err
	case p.FilterOnly && p.FilterEntries > 0 && !hasFilter:
		return t.file.Corrupt(tablefile.MetaindexBlock, t.file.Footer.Metaindex,
			"no table filter, but the properties say that the table has only a filter of %d keys", p.FilterEntries)
	case p.FilterOnly && p.FilterEntries > 0:
		t.filterOnly, t.hidden = true, ErrFilterOnly
	default:
		t.filterOnly = p.FilterOnly
	}
	return nil
}

// findProperties reads the properties that the metaindex lists under that name into s. Without any, it returns nil.
func (t *openTable) findProperties(m tablefile.Metaindex, name string, s *tablefile.Scratch) (*layout.Properties, error) {
	for _, e := range m {
		switch {
		case string(e.Name) != name:
		case e.Err != nil:
			return nil, e.Err
		default:
			return t.readProperties(e.Handle, s)
		}
	}
	return nil, nil
}
