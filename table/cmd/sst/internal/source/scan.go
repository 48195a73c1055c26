package source

import (
	"bytes"
	"cmp"
	"errors"
	"iter"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/merge"
)

// ScanOptions say which entries to scan, and in which order.
type ScanOptions struct {
	From, To []byte // user keys ≥ From and < To; nil: no bound
	Prefix   []byte // only user keys with this prefix matter: filters may exclude others; nil: all do
	Reverse  bool   // scan from the last key to the first
	Versions bool   // all versions and tombstones, not only newest values
	InOrder  bool   // also all versions of a single log come in key order

	Tombstones bool // those that are the newest version of their key too
	Scans      int  // how many scans go on at the same time, which share the memory to read ahead; 0: one
}

// Scan returns the entries of the logs and tables in key order. Versions of a key come
// newest first, or with Reverse oldest first. All versions of a single log come in the
// order in which they were written, unless InOrder is set. Each entry is valid until the next. The first error
// ends the scan.
func (s *Source) Scan(o ScanOptions) iter.Seq2[Entry, error] {
	switch {
	case s.isLog && o.Versions && !o.Reverse && !o.InOrder:
		return s.scanLogsInOrder(o)
	case o.Versions || s.isSet() && s.dir.Layers == 0:
		return s.scanAll(o)
	case s.Internal && !o.Reverse:
		return s.firstVersions(o)
	}
	return s.newestVersions(o)
}

// firstVersions returns the first entry of each key, without tombstones unless o asks for them. Of internal keys in
// ascending order it is the newest.
func (s *Source) firstVersions(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var last []byte
		have, lost := false, s.NewLossCursor()
		for e, err := range s.scanAll(o) {
			if err == nil && (have && s.SameKey(e.Key, last) || !lost.isNeeded(e)) {
				continue
			}
			last, have = append(last[:0], e.Key...), true
			leftOut := false
			if err == nil && e.Kind != table.KindSet {
				leftOut, err = s.leavesOut(e, o)
			}
			if !leftOut && !yield(e, err) {
				return
			}
		}
	}
}

// newestVersions is firstVersions of entries whose newest may be anywhere among those of its key.
func (s *Source) newestVersions(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var newest Entry // with its own memory
		have := false
		flush := func() bool {
			if !have {
				return true
			}
			leftOut, err := s.leavesOut(newest, o)
			return leftOut || yield(newest, err)
		}
		for e, err := range s.scanAll(o) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			same := have && s.SameKey(e.Key, newest.Key)
			if same && !e.newerThan(newest) || s.hides(e) {
				continue
			}
			if !same && !flush() {
				return
			}
			key, value := append(newest.Key[:0], e.Key...), append(newest.Value[:0], e.Value...)
			newest, have = e, true
			newest.Key, newest.Value = key, value
		}
		flush()
	}
}

// scanAll returns all entries of all logs and tables.
func (s *Source) scanAll(o ScanOptions) iter.Seq2[Entry, error] {
	if s.Order == table.AnyOrder {
		return s.scanTableByTable(o)
	}
	return s.scanMerged(o)
}

// scanMerged merges tables that have the same order. If a file was removed, it continues
// with the files that the directory has then.
func (s *Source) scanMerged(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		c := mergingCursor{s: s, o: o}
		for tries := 1; ; tries++ {
			err := c.open()
			for ok := err == nil && c.first(); ok; ok = c.advance() {
				tries = 0
				e, err := c.entry()
				if !yield(e, err) || err != nil {
					c.it.Close() // it has no error, or another came first
					return
				}
			}
			if err == nil {
				err = c.it.Close()
			}
			if err == nil {
				return
			}
			if tries == maxTries || !s.reopenIfChanged(err) {
				yield(Entry{}, err)
				return
			}
		}
	}
}

// A mergingCursor iterates over the entries of all tables.
type mergingCursor struct {
	s          *Source
	o          ScanOptions
	it         *merge.Iter
	runs       []*runScan // the sources of it; nil: the logs
	last       []byte     // for a directory, the last key that was returned
	positioned bool       // last is set
}

// open opens the iterators, without positioning them. They go on where the cursor is.
func (c *mergingCursor) open() error {
	s := c.s
	c.runs = nil
	if s.logs.sorted == nil && len(s.logs.paths) > 0 {
		var err error
		if s.logs.sorted, err = dbfile.NewSortedTable(s.logEntriesToSort(), dbfile.Stored{Internal: true, Order: s.Order}, nil); err != nil {
			return err
		}
	}
	runs := s.arranged()
	o := table.IterOptions{Lower: s.SeekKey(c.o.From), Upper: s.SeekKey(c.o.To), ReadAhead: max(32<<10, min(readAhead, maxTotalReadAhead/max(1, len(runs))/max(1, c.o.Scans)))}
	switch {
	case c.positioned && c.o.Reverse:
		o.Upper = c.last
	case c.positioned:
		o.Lower = c.last
	}
	if s.Order != table.AnyOrder {
		o.Prefix = c.o.Prefix
	}
	var its []merge.Iterator
	if s.logs.sorted != nil {
		c.runs, its = append(c.runs, nil), append(its, s.logs.sorted.NewIter(&o))
	}
	for i := range runs {
		r := &runScan{s: s, o: o}
		it, err := r.iter(&runs[i])
		if err != nil {
			return errors.Join(err, merge.New(s.Comparer(), its...).Close())
		}
		if it != nil {
			c.runs, its = append(c.runs, r), append(its, it)
		}
	}
	c.it = merge.New(s.Comparer(), its...)
	return nil
}

// readAhead is how much of a table is read at once.
const readAhead = 256 << 10

// maxTotalReadAhead is how much of all tables together is read at once.
const maxTotalReadAhead = 16 << 20

// first moves to the first entry or, after reopening, to the entry after the last one.
func (c *mergingCursor) first() bool {
	if c.o.Reverse {
		return c.it.Last()
	}
	return c.it.First() && (!c.positioned || !bytes.Equal(c.it.Key(), c.last) || c.it.Next())
}

func (c *mergingCursor) advance() bool {
	if c.o.Reverse {
		return c.it.Prev()
	}
	return c.it.Next()
}

// entry returns the current entry.
func (c *mergingCursor) entry() (e Entry, err error) {
	r, key, value := c.runs[c.it.Source()], c.it.Key(), c.it.Value()
	if c.s.Dir {
		c.last, c.positioned = append(c.last[:0], key...), true
	}
	if r == nil {
		return c.s.logs.decodeSorted(key, value)
	}
	t, block := r.at.table, r.at.Block()
	if err := e.Parse(key, value, c.s.Internal); err != nil {
		return e, &dbfile.FileError{Path: t.Path, Err: err}
	}
	t.removes(&e)
	e.Table, e.Offset, e.age = t, block.Offset, t.age
	return e, nil
}

// An Entry is an entry of a table, or a write of a log, with the place where a Scan has found it.
type Entry struct {
	dbfile.Entry
	Table  *Table // nil: the entry is in a log
	Log    string // path of the log
	Offset uint64 // offset of the data block in the table, or of the batch in the log

	age int // the age of its table; 0 for a log
}

// newerThan reports whether e shadows o, which has the same key. With the same sequence number, a value comes before
// a deletion, as in the order of internal keys. Without sequence numbers, the newest table counts.
func (e Entry) newerThan(o Entry) bool {
	if e.Sequence == o.Sequence && (e.Kind == o.Kind || !e.Internal) {
		return e.age < o.age
	}
	return cmp.Or(cmp.Compare(e.Sequence, o.Sequence), cmp.Compare(e.Kind, o.Kind)) > 0
}

// Compare orders entries by key, and versions of a key from newest to oldest.
func (e Entry) Compare(o Entry, keys table.Comparer) int {
	if order := keys.Compare(e.Key, o.Key); order != 0 {
		return order
	}
	if order := cmp.Compare(o.Sequence, e.Sequence); order != 0 {
		return order
	}
	return cmp.Compare(o.Kind, e.Kind)
}
