package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// Get returns the newest version of key in the logs and tables, unless it is a tombstone. It opens only tables
// whose key range includes the key, newest first.
//
// If the logs contain a version that is newer than all tables according to the MANIFEST, Get stops there. Otherwise
// it searches all levels, since LevelDB up to 1.20 can leave the newest version below an older one. Without
// internal keys, Get stops at the first table that contains the key.
//
// Get skips damaged parts. If these may hide a newer version, the error is a merge.HiddenError.
func (s *Source) Get(key []byte) (newest Entry, found bool, err error) {
	get := func(_ *Table, f *dbfile.File) (dbfile.Entry, bool, error) { return f.Get(key) }
	err = s.untilUnchanged(func() (err error) {
		newest, found, err = s.getNewest(key, get)
		return err
	})
	return newest, found, err
}

// getNewest is like Get, but searches tables with a function. If the key is deleted, found is false and newest is
// its tombstone.
func (s *Source) getNewest(key []byte, search func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error)) (newest Entry, found bool, err error) {
	newest, found, err = s.getFromLogs(key)
	if err != nil {
		return Entry{}, false, err
	}
	var damage []error
	isNewest := found && newest.Sequence > s.inTables()
	for _, t := range s.candidates(key) {
		if isNewest || found && !s.Internal {
			break
		}
		e, ok, err := s.getFromTable(t, search)
		if err != nil && !s.isPassedOver(err) {
			return Entry{}, false, err
		}
		damage = append(damage, err)
		if ok && (!found || e.newerThan(newest)) {
			newest, found = e, true
		}
	}
	found = found && newest.Kind != internalkey.Delete
	if err := s.checkKind(newest); err != nil {
		found, damage = false, append(damage, err)
	}
	if err := errors.Join(damage...); err != nil {
		hidden := &merge.HiddenError{Found: found, Err: err}
		if found {
			hidden.Value = newest.Value
		}
		return newest, found, hidden
	}
	return newest, found, nil
}

// getFromTable opens a table and searches it. Even with an error it may return an entry, which can be an older
// version.
func (s *Source) getFromTable(t *Table, search func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error)) (e Entry, found bool, err error) {
	f, err := s.open(t)
	if err != nil {
		return Entry{}, false, err
	}
	defer func() { err = errors.Join(err, s.release(t, f)) }()
	f.HiddenFrom = s.hiddenFrom()
	e.Entry, found, err = search(t, f)
	t.removes(&e)
	if e.Table, e.age = t, t.age; err == nil && (f.IsSorted() || t.replaced) {
		err = s.lossIn(t)
	}
	return e, found, err
}

// Explain is like Get, but also returns a LookupTrace for each table that it searches.
func (s *Source) Explain(key []byte) (newest Entry, found bool, paths []dbfile.LookupTrace, err error) {
	explain := func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error) {
		p, err := f.Explain(key)
		p.Removed = p.Found && t.Removals
		if p.FilterOnly && s.Dir && !s.isSet() {
			err = f.Wrap(table.ErrFilterOnly)
		}
		paths = append(paths, p)
		return p.Entry, p.Found, err
	}
	err = s.untilUnchanged(func() (err error) {
		paths = nil
		newest, found, err = s.getNewest(key, explain)
		return err
	})
	return newest, found, paths, err
}

// FilterOnly reports whether the source is a filter-only table or a set of them. For a set, the first readable table
// decides.
func (s *Source) FilterOnly() bool {
	if s.isLog || s.Dir && !s.isSet() {
		return false
	}
	keyed := slices.DeleteFunc(slices.Clone(s.Tables), func(t *Table) bool { return t.Removals }) // tables with keys
	if s.isSet() && files.IsRemote(s.Path) {                                                      // decide by the name, since opening the table takes a request
		return len(keyed) > 0 && filepath.Ext(keyed[0].Path) == ".filter"
	}
	for f := range s.readable(slices.All(keyed)) {
		if only, err := f.FilterOnly(); err == nil {
			return only
		}
	}
	return false
}

// MayContain checks the filters of a single table, or of the tables of a set that may contain the key. Removals are
// checked exactly.
func (s *Source) MayContain(key []byte) (may bool, err error) {
	search := func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error) {
		if t.Removals {
			return f.Get(key)
		}
		may, err := f.MayContain(key)
		return dbfile.Entry{}, may, err
	}
	for _, t := range s.candidates(key) {
		if _, has, err := s.getFromTable(t, search); has || err != nil {
			return !t.Removals, err
		}
	}
	return false, nil
}

// logs are the logs of a Source, the oldest first.
type logs struct {
	paths      []string
	prefetched []Entry             // the newest write to each key of PrefetchLogs; if there is none, Internal is false
	sorted     *dbfile.SortedTable // a table of all writes, or nil
	lossy      []*dbfile.Log       // logs that were read, and have losses
	last       uint64              // the last sequence number, once the logs were read
	lost       uint64              // the highest possible sequence number of a lost write
}

// logWrites yields the writes of all logs as entries, and records damage.
func (s *Source) logWrites() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		l := &dbfile.Log{Log: s.dir.FirstLog(s.o.ListOptions), Unread: s.o.Unread}
		for i, path := range s.logs.paths {
			l = l.Next(path)
			l.Standalone = s.isLog
			if i == len(s.logs.paths)-1 {
				l.After, l.UpTo = s.dir.Logged(s.o.ListOptions)
			}
			for w, err := range l.Writes() {
				e := Entry{Entry: dbfile.Entry{Key: w.UserKey, Value: w.Value, Internal: true, Sequence: w.Sequence, Kind: w.Kind}, Log: path, Offset: uint64(w.Offset)}
				if !yield(e, err) || err != nil {
					return
				}
			}
			s.logs.last = l.Last()
			if err := errors.Join(s.checkReplaced(), s.endLog(l)); err != nil {
				yield(Entry{}, err)
				return
			}
		}
	}
}

// endLog records the losses of a log that was read. With Options.Strict it returns damage instead.
func (s *Source) endLog(l *dbfile.Log) error {
	if unwritten := l.UnwrittenNote(); unwritten != "" {
		s.note("%s: %s", l.Path, unwritten)
	}
	if err := l.DamageError(); err != nil && s.o.Strict {
		return err
	}
	if len(l.Losses()) > 0 {
		s.logs.lossy = append(slices.DeleteFunc(s.logs.lossy, func(d *dbfile.Log) bool { return d.Path == l.Path }), l)
		s.logs.lost = max(s.logs.lost, l.HighestLost())
	}
	return nil
}

// LogDamage returns the damage of the logs that were read. If writes are lost, older versions and deleted keys may
// show.
func (s *Source) LogDamage() error {
	var all []error
	for _, l := range s.logs.lossy {
		all = append(all, l.DamageError())
	}
	return errors.Join(all...)
}

// MayHideKeys reports whether the directory or a log is damaged, so that the newest version of any key may be lost.
func (s *Source) MayHideKeys() bool { return s.Damage != nil || s.LogDamage() != nil }

// MayLackWrites reports whether writes are lost from the logs that were read, or may be.
func (s *Source) MayLackWrites() bool { return len(s.logs.lossy) > 0 }

// PrefetchLogs reads the logs once for all keys that will be looked up with Get.
func (s *Source) PrefetchLogs(keys ...[]byte) error {
	return s.untilUnchanged(func() error { return s.prefetchLogs(keys) })
}

func (s *Source) prefetchLogs(keys [][]byte) error {
	order := s.logOrder()
	var wanted []Entry
	for _, key := range keys {
		wanted = append(wanted, Entry{Entry: dbfile.Entry{Key: bytes.Clone(key)}}) // the caller may change it
	}
	byKey := func(a, b Entry) int { return order.Compare(a.Key, b.Key) }
	slices.SortFunc(wanted, byKey)
	wanted = slices.CompactFunc(wanted, func(a, b Entry) bool { return byKey(a, b) == 0 })
	for w, err := range s.logWrites() {
		if err != nil {
			return err
		}
		i, isWanted := slices.BinarySearchFunc(wanted, w, byKey)
		if isWanted && (!wanted[i].Internal || w.Compare(wanted[i], order) <= 0) {
			w.Key, w.Value = bytes.Clone(w.Key), bytes.Clone(w.Value) // in some orders, equal keys differ in their bytes
			wanted[i] = w
		}
	}
	s.logs.prefetched = wanted
	return nil
}

// logOrder returns the order of the keys in logs. If the order is unknown, keys are equal only if their bytes are.
func (s *Source) logOrder() table.Comparer {
	if s.Order == table.AnyOrder {
		return table.BytewiseComparer
	}
	return s.Order
}

// getFromLogs returns the newest write to a key in the logs. It may be a tombstone.
func (s *Source) getFromLogs(key []byte) (e Entry, found bool, err error) {
	if len(s.logs.paths) == 0 {
		return Entry{}, false, nil
	}
	i, isPrefetched := slices.BinarySearchFunc(s.logs.prefetched, key, func(e Entry, key []byte) int { return s.logOrder().Compare(e.Key, key) })
	if !isPrefetched {
		if err := s.PrefetchLogs(key); err != nil {
			return Entry{}, false, err
		}
		i = 0
	}
	e = s.logs.prefetched[i]
	return e, e.Internal, nil
}

// locationLen is the length of the location that precedes each value in the table of sorted logs.
const locationLen = 12

// logEntriesToSort returns the writes as entries. Each value is preceded by the location of the write.
func (s *Source) logEntriesToSort() iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		var key, value []byte
		for w, err := range s.logWrites() {
			key = internalkey.Key{UserKey: w.Key, Sequence: w.Sequence, Kind: w.Kind}.Append(key[:0])
			value = binary.LittleEndian.AppendUint32(value[:0], uint32(slices.Index(s.logs.paths, w.Log)))
			value = binary.LittleEndian.AppendUint64(value, w.Offset)
			value = append(value, w.Value...)
			if !yield(input.Pair{Key: key, Value: value}, err) {
				return
			}
		}
	}
}

// decodeSorted decodes an entry of the table of sorted logs.
func (l *logs) decodeSorted(key, value []byte) (e Entry, err error) {
	err = e.Parse(key, value[locationLen:], true)
	e.Log, e.Offset = l.paths[binary.LittleEndian.Uint32(value)], binary.LittleEndian.Uint64(value[4:])
	return e, err
}

// scanLogsInOrder yields the writes of the logs in the order in which they were written.
func (s *Source) scanLogsInOrder(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for w, err := range s.logWrites() {
			before := o.From != nil && s.Order.Compare(w.Key, o.From) < 0
			if err == nil && (before || o.To != nil && s.Order.Compare(w.Key, o.To) >= 0) {
				continue
			}
			if !yield(w, err) {
				return
			}
		}
	}
}
