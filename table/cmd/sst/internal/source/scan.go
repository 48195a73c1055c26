package source

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// ScanOptions are the options of Scan: which entries it yields, and in which order.
type ScanOptions struct {
	From, To []byte // user keys ≥ From and < To; nil: no bound
	Prefix   []byte // only user keys with this prefix matter, and filters may rule out others; nil: all keys matter
	Reverse  bool   // scan from the last key to the first
	Versions bool   // all versions and tombstones, not only newest values
	InOrder  bool   // with Versions, scan even a single log in key order

	Tombstones bool // without Versions, also tombstones that are the newest version of their key
	Scans      int  // number of concurrent scans, which share the memory for reading ahead; 0: one
}

// Scan yields the entries of the logs and tables in key order. Versions of a key come newest first, or with Reverse
// oldest first. With Versions, a single log is scanned in the order in which it was written, unless InOrder or
// Reverse is set. Each entry is valid until the next. The first error ends the scan.
func (s *Source) Scan(o ScanOptions) iter.Seq2[Entry, error] {
	switch {
	case s.isLog && o.Versions && !o.Reverse && !o.InOrder:
		return s.scanLogsInOrder(o)
	case o.Versions && s.haveEqualEntries():
		return s.scanByAge(o)
	case o.Versions || s.isSet() && s.dir.Layers == 0:
		return s.scanAll(o)
	}
	return s.newestVersions(o)
}

// haveEqualEntries reports whether tables can have equal entries that scanAll does not yield by age: in a directory
// whose tables are not listed.
func (s *Source) haveEqualEntries() bool {
	isListed := func(t *Table) bool { return t.Meta != nil }
	return len(s.Tables) > 1 && !s.isSet() && s.Order != table.AnyOrder && !slices.ContainsFunc(s.Tables, isListed)
}

// scanByAge is scanAll with equal entries in the order of their tables' ages.
func (s *Source) scanByAge(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var equal []Entry // copies
		yieldEqual := func() bool {
			slices.SortStableFunc(equal, func(a, b Entry) int { return cmp.Compare(a.age, b.age) })
			if o.Reverse {
				slices.Reverse(equal)
			}
			for _, e := range equal {
				if !yield(e, nil) {
					return false
				}
			}
			equal = equal[:0]
			return true
		}
		for e, err := range s.scanAll(o) {
			if (err != nil || len(equal) > 0 && e.Compare(equal[0], s.logOrder()) != 0) && !yieldEqual() {
				return
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			e.Key, e.Value = bytes.Clone(e.Key), bytes.Clone(e.Value)
			equal = append(equal, e)
		}
		yieldEqual()
	}
}

// newestVersions yields the newest entry of each key. It skips tombstones unless Tombstones is set. Among internal
// keys in ascending order the newest comes first, and is yielded at once. Otherwise all entries of the key are read
// first.
func (s *Source) newestVersions(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var newest Entry // a copy
		have, atOnce, lost := false, s.Internal && !o.Reverse && !s.haveEqualEntries(), s.NewLossCursor()
		show := func(e *Entry) bool {
			if e.Kind == internalkey.Set {
				return yield(*e, nil)
			}
			leftOut, err := s.leavesOut(*e, o)
			return leftOut || yield(*e, err)
		}
		for e, err := range s.scanAll(o) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			same := have && s.SameKey(e.Key, newest.Key)
			if same && (atOnce || !e.newerThan(newest)) || !lost.isNeeded(e) {
				continue
			}
			if atOnce {
				newest.Key, have = append(newest.Key[:0], e.Key...), true
				if !show(&e) {
					return
				}
				continue
			}
			if have && !same && !show(&newest) {
				return
			}
			key, value := append(newest.Key[:0], e.Key...), append(newest.Value[:0], e.Value...)
			newest, have = e, true
			newest.Key, newest.Value = key, value
		}
		if have && !atOnce {
			show(&newest)
		}
	}
}

// scanAll yields all entries of all logs and tables.
func (s *Source) scanAll(o ScanOptions) iter.Seq2[Entry, error] {
	if s.Order == table.AnyOrder {
		return s.scanTableByTable(o)
	}
	return s.scanMerged(o)
}

// scanMerged merges tables that have the same order. If a file was removed, it lists the directory again and
// continues where it was, unless the order is unknown. If another set or directory has replaced the Source's by then,
// it returns an error.
func (s *Source) scanMerged(o ScanOptions) iter.Seq2[Entry, error] {
	begin, move := (*merge.Iter).First, (*merge.Iter).Next
	if o.Reverse {
		begin, move = (*merge.Iter).Last, (*merge.Iter).Prev
	}
	return func(yield func(Entry, error) bool) {
		var last []byte // for a directory, the last key that was yielded; nil: none
		for tries := 1; ; tries++ {
			it, runs, err := s.merged(o, last)
			ok := err == nil && begin(it)
			if ok && last != nil && !o.Reverse && bytes.Equal(it.Key(), last) {
				ok = move(it)
			}
			for ; ok; ok = move(it) {
				tries = 0
				if s.Dir {
					last = format.AppendNotNil(last[:0], it.Key())
				}
				e, err := s.entry(runs[it.Source()], it)
				if !yield(e, err) || err != nil {
					it.Close() // reading succeeded, or another error comes first
					return
				}
			}
			if err == nil {
				err = it.Close()
			}
			if err == nil {
				return
			}
			before := *s
			if tries == maxTries || s.Order == table.AnyOrder || !s.reopenIfChanged(err) {
				yield(Entry{}, err)
				return
			}
			if err := s.checkSame(&before); last != nil && err != nil {
				yield(Entry{}, err)
				return
			}
		}
	}
}

// merged returns an iterator over the entries of all tables and logs, and its sources: nil stands for the logs. If
// last is not nil, the iterator continues at that key.
func (s *Source) merged(o ScanOptions, last []byte) (it *merge.Iter, from []*runScan, err error) {
	if s.logs.sorted == nil && len(s.logs.paths) > 0 {
		keys := dbfile.Stored{Internal: true, Order: s.Order}
		if s.logs.sorted, err = dbfile.NewSortedTable(s.logEntriesToSort(), keys, nil, s.o.TempDir); err != nil {
			return nil, nil, err
		}
	}
	runs := s.arranged()
	opts := table.IterOptions{Lower: s.SeekKey(o.From), Upper: s.SeekKey(o.To), ReadAhead: max(32<<10, min(readAhead, maxTotalReadAhead/max(1, len(runs))/max(1, o.Scans)))}
	switch {
	case last != nil && o.Reverse:
		opts.Upper = last
	case last != nil:
		opts.Lower = last
	}
	if s.Order != table.AnyOrder {
		opts.Prefix = o.Prefix
	}
	var its []merge.Iterator
	if s.logs.sorted != nil {
		from, its = append(from, nil), append(its, s.logs.sorted.NewIter(&opts))
	}
	for i := range runs {
		r := &runScan{s: s, o: opts}
		it, err := r.iter(&runs[i])
		if err != nil {
			return nil, nil, errors.Join(err, merge.New(s.Comparer(), its...).Close())
		}
		if it != nil {
			from, its = append(from, r), append(its, it)
		}
	}
	return merge.New(s.Comparer(), its...), from, nil
}

// Limits for reading ahead in a table, and in all tables together, in bytes.
const (
	readAhead         = 256 << 10
	maxTotalReadAhead = 16 << 20
)

// entry returns the current entry of it. r is its run, or nil for the logs.
func (s *Source) entry(r *runScan, it *merge.Iter) (e Entry, err error) {
	if r == nil {
		return s.logs.decodeSorted(it.Key(), it.Value())
	}
	t, block := r.at.table, r.at.Block()
	if err := e.Parse(it.Key(), it.Value(), s.Internal); err != nil {
		return e, &dbfile.FileError{Path: t.Path, Err: err}
	}
	t.removes(&e)
	e.Table, e.Offset, e.age = t, block.Offset, t.age
	return e, nil
}

// An Entry is an entry of a table or a write of a log, with its location.
type Entry struct {
	dbfile.Entry
	Table  *Table // nil: the entry is in a log
	Log    string // path of the log
	Offset uint64 // offset of the data block in the table, or of the batch in the log

	age int // the age of its table; 0 for a log
}

// newerThan reports whether e shadows o, which has the same key. If their sequence numbers are equal, a value
// shadows a deletion, as in the order of internal keys. Without sequence numbers, the newest table counts.
func (e Entry) newerThan(o Entry) bool {
	if e.Sequence == o.Sequence && (e.Kind == o.Kind || !e.Internal) {
		return e.age < o.age
	}
	return cmp.Or(cmp.Compare(e.Sequence, o.Sequence), cmp.Compare(e.Kind, o.Kind)) > 0
}

// Compare orders entries by key, and versions of a key from newest to oldest.
func (e Entry) Compare(o Entry, keys table.Comparer) int {
	return cmp.Or(keys.Compare(e.Key, o.Key), cmp.Compare(o.Sequence, e.Sequence), cmp.Compare(o.Kind, e.Kind))
}
