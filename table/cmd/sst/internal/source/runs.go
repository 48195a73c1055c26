package source

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/merge"
)

// A run is a list of tables that do not overlap. They are of one level, or have no level.
type run = dbread.Run[*Table]

// arranged returns the tables that have keys, arranged in a few runs. Runs of the newest level come first.
func (s *Source) arranged() []run {
	if s.runs != nil {
		return s.runs
	}
	order := s.Comparer()
	tables := slices.DeleteFunc(slices.Clone(s.Tables), func(t *Table) bool { return t.skip })
	slices.SortStableFunc(tables, func(a, b *Table) int {
		if s.o.Repair && (a.Meta == nil) != (b.Meta == nil) {
			return b.Level() - a.Level() // listed tables first: only their entries can be certain, see LossCursor.IsCertain
		}
		if a.Level() != b.Level() {
			return a.Level() - b.Level()
		}
		if s.isByAge(a) {
			return b.age - a.age // the oldest first, since newer files mostly have higher keys
		}
		return order.Compare(a.smallest, b.smallest)
	})
	for len(tables) > 0 {
		n := 1
		for n < len(tables) && tables[n].Level() == tables[0].Level() {
			n++
		}
		s.runs, tables = append(s.runs, s.runsOf(tables[:n])...), tables[n:]
	}
	return s.runs
}

// isByAge reports whether a table is in level 0 of a database. Runs of level 0 are ordered by age: of equal
// entries, the one in the newest file counts, as in engines.
func (s *Source) isByAge(t *Table) bool { return t.Level() == 0 && !s.isSet() }

// runsOf arranges the tables of a level in runs.
func (s *Source) runsOf(level []*Table) (runs []run) {
	byAge := s.isByAge(level[0])
	for _, t := range level {
		keys, i := merge.LevelTable{Name: t.Path, Smallest: t.smallest, Largest: t.largest}, 0
		if byAge {
			i = max(0, len(runs)-1) // earlier runs are complete
		}
		for i < len(runs) && !runs[i].Insert(s.Comparer(), t, keys) {
			i++
		}
		if i == len(runs) {
			runs = append(runs, run{})
			runs[i].Insert(s.Comparer(), t, keys)
		}
	}
	if byAge {
		slices.Reverse(runs)
	}
	return runs
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

// A runScan scans a run. At most one of its tables is open at a time.
type runScan struct {
	s  *Source
	o  table.IterOptions
	at *fileIter // the iterator over the table that was opened last
}

// iter returns an iterator over the run, or nil if none of its tables is within the bounds.
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

// open opens a table of the run. A damaged table yields no entries.
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

// A fileIter is an iterator that also closes its table, and names the table in errors.
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

// noteUnknownOrder adds a note if the order of a directory is unknown.
func (s *Source) noteUnknownOrder() {
	lost := slices.ContainsFunc(s.Tables, func(t *Table) bool { return t.orderUnknown })
	switch {
	case s.Order == table.AnyOrder:
		s.Notes = append(s.Notes, fmt.Sprintf("%s: keys are in the order of comparator %s, which sst does not know: tables are scanned one after the other", s.Path, format.Quote([]byte(s.o.Order.Manifest))))
	case s.o.Order.Comparer == nil && lost:
		s.Order = table.AnyOrder
		s.Notes = append(s.Notes, fmt.Sprintf("%s: the key order is unknown: tables are scanned one after the other", s.Path))
	}
}

// scanTableByTable yields all entries if the order is unknown: first those of the logs as they were written, then
// those of each table in turn.
func (s *Source) scanTableByTable(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := s.checkScanWithoutOrder(o); err != nil {
			yield(Entry{}, err)
			return
		}
		parts := []iter.Seq2[Entry, error]{s.scanLogsInOrder(o)}
		for _, t := range s.Tables {
			one := *s
			one.Tables, one.runs, one.logs = []*Table{t}, nil, logs{}
			parts = append(parts, one.scanMerged(o))
		}
		if o.Reverse {
			slices.Reverse(parts)
		}
		for _, part := range parts {
			for e, err := range part {
				if s.Dir && errors.Is(err, fs.ErrNotExist) {
					err = fmt.Errorf("%s changed while it was read, and its key order is unknown: %w", s.Path, err)
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// checkScanWithoutOrder returns an error for options that need the order of keys.
func (s *Source) checkScanWithoutOrder(o ScanOptions) error {
	what := ""
	switch {
	case o.From != nil || o.To != nil:
		what = "--from and --to cannot be applied"
	case o.Reverse && len(s.logs.paths) > 0:
		what = "--reverse cannot be applied to a log"
	case !o.Versions && (len(s.Tables) > 1 || len(s.logs.paths) > 0):
		what = "the newest value of a key cannot be found"
	default:
		return nil
	}
	return fmt.Errorf("%s: the key order is unknown, so %s: %s", s.Path, what, comparers.Advice())
}

// SameOrder returns an error if the entries of two sources cannot be compared side by side.
func (s *Source) SameOrder(o *Source) error {
	for _, x := range []*Source{s, o} {
		if x.Order == table.AnyOrder {
			return fmt.Errorf("%s: the key order is unknown: %s", x.Path, comparers.Advice())
		}
	}
	if s.Order == o.Order {
		return nil
	}
	var paths, commands []string
	for _, x := range []*Source{s, o} {
		if x.Order != table.BytewiseComparer {
			out := []string{"NEW", "NEW2"}[len(paths)]
			paths = append(paths, x.Path)
			commands = append(commands, files.CommandLine("scan --versions=false %s | sst build -o "+out, x.Path))
		}
	}
	return fmt.Errorf("%s is in the order of %s, but %s is in the order of %s: build %s again in bytewise order: %s",
		s.Path, s.Order.Name(), o.Path, o.Order.Name(), strings.Join(paths, " and "), strings.Join(commands, "; "))
}

// SameKey reports whether two user keys are equal.
func (s *Source) SameKey(a, b []byte) bool { return s.logOrder().Compare(a, b) == 0 }
