package source

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/merge"
)

// A run has tables of one level, or without levels, that do not overlap.
type run = dbread.Run[*Table]

// arranged returns the tables that have keys in a few runs, those of the newest level first.
func (s *Source) arranged() []run {
	if s.runs != nil {
		return s.runs
	}
	order := s.Comparer()
	tables := slices.DeleteFunc(slices.Clone(s.Tables), func(t *Table) bool { return t.skip })
	slices.SortStableFunc(tables, func(a, b *Table) int {
		if s.o.Repair && (a.Meta == nil) != (b.Meta == nil) {
			return b.Level() - a.Level() // what a listed one has too is certain: see LossCursor.IsCertain
		}
		if a.Level() != b.Level() {
			return a.Level() - b.Level()
		}
		if s.isByAge(a) {
			return b.age - a.age // the oldest first, since newer files mostly have higher keys
		}
		return order.Compare(a.smallest, b.smallest)
	})
	first, byAge := -1, 0 // the runs of level 0
	for _, t := range tables {
		if !s.isByAge(t) {
			s.arrange(t, 0)
			continue
		}
		if first < 0 {
			first = len(s.runs)
		}
		s.arrange(t, max(first, len(s.runs)-1))
		byAge = len(s.runs) - first
	}
	if byAge > 0 {
		slices.Reverse(s.runs[first : first+byAge])
	}
	return s.runs
}

// isByAge reports whether a table is one of level 0, whose runs are in the order of their ages: of equal entries that of
// the newest file counts, as in the engines.
func (s *Source) isByAge(t *Table) bool { return t.Level() == 0 && !s.isSet() }

// arrange adds a table to one of the runs of its level, from one on, or to a new one.
func (s *Source) arrange(t *Table, first int) {
	keys := merge.LevelTable{Name: t.Path, Smallest: t.smallest, Largest: t.largest}
	for i := first; i < len(s.runs); i++ {
		if r := &s.runs[i]; r.Tables[0].Level() == t.Level() && r.Insert(s.Comparer(), t, keys) {
			return
		}
	}
	var r run
	r.Insert(s.Comparer(), t, keys)
	s.runs = append(s.runs, r)
}

// candidates returns the tables that can have a key, the newest first.
func (s *Source) candidates(key []byte) (all []*Table) {
	if s.Order == table.AnyOrder || !s.Dir {
		return s.Tables
	}
	runs, order, seek := s.arranged(), s.Comparer(), s.SeekKey(key)
	for i := range runs {
		from, to := runs[i].Find(order, s.Order, s.FilterKey, seek)
		all = append(all, runs[i].Tables[from:to]...)
	}
	slices.SortFunc(all, func(a, b *Table) int { return a.age - b.age })
	return all
}

// A runScan is the scan of a run. At most one of its tables is open at a time.
type runScan struct {
	s  *Source
	o  table.IterOptions
	at *fileIter // the iterator over the table that is open, or was last
}

// iter returns an iterator over the run, or nil if none of its keys is within the bounds.
func (r *runScan) iter(of *run) (merge.Iterator, error) {
	if r.s.Order == table.AnyOrder || !of.IsKnown() {
		return r.open(of.Tables[0])
	}
	it, err := of.Iter(r.s.Comparer(), r.o.Lower, r.o.Upper, r.open)
	if err != nil {
		return nil, dbfile.Corruption(fmt.Sprintf("%s: the MANIFEST lists tables with impossible key ranges: %v", r.s.Path, err))
	}
	return it, nil
}

// open opens a table of the run. One that is damaged has no entries.
func (r *runScan) open(t *Table) (merge.Iterator, error) {
	f, err := r.s.open(t)
	if r.s.isPassedOver(err) {
		r.s.loseTable(t, r.s.keysOf(t), err)
		return merge.New(r.s.Comparer()), nil
	}
	if err != nil {
		return nil, err
	}
	r.o.OnLoss = r.s.onLoss(t, f)
	t.scans++
	r.at = &fileIter{f.Reader.NewIter(&r.o), r.s, t, f}
	return r.at, nil
}

// A fileIter closes its table too, and names the table in errors.
type fileIter struct {
	*table.Iter
	s     *Source
	table *Table
	file  *dbfile.File
}

func (it *fileIter) Error() error { return it.file.Wrap(it.Iter.Error()) }

func (it *fileIter) Close() error {
	err := it.file.Wrap(it.Iter.Close())
	it.table.scans--
	return errors.Join(err, it.s.release(it.table, it.file))
}
