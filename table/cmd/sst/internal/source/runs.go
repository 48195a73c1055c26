package source

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A sortedRun is a list of tables in order whose key ranges do not overlap: a level, or
// tables without levels. At most one of them is open at a time.
type sortedRun struct {
	s         *Source
	tables    []*Table
	readAhead int
	prefix    []byte      // only keys with it matter, within the next two; nil: all do
	from, to  []byte      // stored keys
	table     *Table      // the table that is open, or was last
	it        *table.Iter // the iterator over table
}

// sortedRuns arranges the tables that have keys in a few sorted runs. A table of unknown
// range is a run of its own.
func (s *Source) sortedRuns() []*sortedRun {
	order := s.order()
	tables := slices.Clone(s.Tables)
	slices.SortStableFunc(tables, func(a, b *Table) int {
		if s.o.Repair && (a.Meta == nil) != (b.Meta == nil) {
			return b.level() - a.level() // what a listed one has too is certain: see LossCursor.IsCertain
		}
		if a.level() != b.level() {
			return a.level() - b.level()
		}
		return order.Compare(a.smallest, b.smallest)
	})
	var runs []*sortedRun
	for _, t := range tables {
		if t.skip {
			continue
		}
		fits := func(r *sortedRun) bool {
			last := r.tables[len(r.tables)-1]
			return t.smallest != nil && last.largest != nil && last.level() == t.level() && order.Compare(last.largest, t.smallest) < 0
		}
		if i := slices.IndexFunc(runs, fits); i >= 0 {
			runs[i].tables = append(runs[i].tables, t)
			continue
		}
		runs = append(runs, &sortedRun{s: s, tables: []*Table{t}})
	}
	return runs
}

// iter returns an iterator over the run.
func (r *sortedRun) iter() (merge.Iterator, error) {
	if len(r.tables) == 1 && (r.tables[0].smallest == nil || r.s.Order == table.AnyOrder) {
		return r.open(0)
	}
	var ranges []merge.LevelTable
	for _, t := range r.tables {
		ranges = append(ranges, merge.LevelTable{Name: t.Path, Smallest: t.smallest, Largest: t.largest})
	}
	it, err := merge.NewLevelIter(r.s.order(), ranges, r.open)
	if err != nil {
		return nil, corruption(fmt.Sprintf("%s: the MANIFEST lists tables with impossible key ranges: %v", r.s.Path, err))
	}
	return it, nil
}

// open opens table i of the run. One that is damaged has no entries.
func (r *sortedRun) open(i int) (merge.Iterator, error) {
	t := r.tables[i]
	f, err := r.s.open(t)
	if r.s.isPassedOver(err) {
		r.s.loseTable(t, err)
		return merge.New(r.s.order()), nil
	}
	if err != nil {
		return nil, err
	}
	r.table, r.it = t, f.Reader.NewIter(&table.IterOptions{
		Lower: r.from, Upper: r.to, Prefix: r.prefix, ReadAhead: r.readAhead, OnLoss: r.s.onLoss(t, f, r.s.keysOfBlock(t, f)),
	})
	t.scans++
	return &fileIter{Iter: r.it, run: r, table: t, file: f}, nil
}

// A fileIter closes its table too, and names the table in errors.
type fileIter struct {
	*table.Iter
	run   *sortedRun
	table *Table
	file  *File
}

func (it *fileIter) Error() error { return it.file.Wrap(it.Iter.Error()) }

func (it *fileIter) Close() error {
	err := it.file.Wrap(it.Iter.Close())
	it.table.scans--
	return errors.Join(err, it.run.s.release(it.table, it.file))
}
