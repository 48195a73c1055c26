package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// Get returns the newest version of key in the logs and tables, unless it is a tombstone.
// It opens only tables whose key range includes the key, the newest first.
//
// It stops after the logs if they have a version that is newer than all tables, as the MANIFEST says. Any level can
// have the newest version: LevelDB up to 1.20 can leave it below an older one. Without internal keys, Get stops at the
// first table that has the key.
//
// Get passes over what is damaged. If that may hide a newer version, the error is a merge.HiddenError.
func (s *Source) Get(key []byte) (newest Entry, found bool, err error) {
	get := func(_ *Table, f *dbfile.File) (dbfile.Entry, bool, error) { return f.Get(key) }
	err = s.untilUnchanged(func() (err error) {
		newest, found, err = s.getNewest(key, get)
		return err
	})
	return newest, found, err
}

// getNewest is Get with a function that searches a table. A deleted key is not found, but
// newest is its tombstone.
func (s *Source) getNewest(key []byte, ask func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error)) (newest Entry, found bool, err error) {
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
		e, ok, err := s.getFromTable(t, ask)
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

// getFromTable opens a table and searches it. With an error, it may have found an older version.
func (s *Source) getFromTable(t *Table, ask func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error)) (e Entry, found bool, err error) {
	f, err := s.open(t)
	if err != nil {
		return Entry{}, false, err
	}
	defer func() { err = errors.Join(err, s.release(t, f)) }()
	f.HiddenFrom = s.hiddenFrom()
	e.Entry, found, err = ask(t, f)
	t.removes(&e)
	if e.Table, e.age = t, t.age; err == nil && (f.IsSorted() || t.replaced) {
		err = s.lossIn(t)
	}
	return e, found, err
}

// Explain is Get with a LookupTrace for each table that it searches.
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

// FilterOnly reports whether the source is a table with a filter only, or a set of such tables.
// A set is one if its first table is.
func (s *Source) FilterOnly() bool {
	if s.isLog || s.Dir && !s.isSet() {
		return false
	}
	keyed := slices.DeleteFunc(slices.Clone(s.Tables), func(t *Table) bool { return t.Removals }) // which have keys
	if s.isSet() && files.IsRemote(s.Path) {                                                      // the name tells, and opening the table takes a request
		return len(keyed) > 0 && filepath.Ext(keyed[0].Path) == ".filter"
	}
	for f := range s.readable(slices.All(keyed)) {
		return f.Reader.FilterOnly()
	}
	return false
}

// MayContain checks the filters of a single table, or of the table of a set that may have the key. Removals are checked
// exactly.
func (s *Source) MayContain(key []byte) (may bool, err error) {
	ask := func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error) {
		if t.Removals {
			return f.Get(key)
		}
		may, err := f.MayContain(key)
		return dbfile.Entry{}, may, err
	}
	for _, t := range s.candidates(key) {
		if _, has, err := s.getFromTable(t, ask); has || err != nil {
			return !t.Removals, err
		}
	}
	return false, nil
}

// logs are the logs of a Source, the oldest first.
type logs struct {
	paths  []string
	asked  []Entry             // the newest write to each key of PrefetchLogs; Internal is false if there is none
	sorted *dbfile.SortedTable // a table of all writes, or nil
	damage []*dbfile.Log       // those that were read and are damaged
	last   uint64              // the last sequence number, after they were read
	lost   uint64              // the highest sequence number that a lost write can have
}

// logWrites yields the writes of all logs as entries, and takes note of their damage.
func (s *Source) logWrites() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		l := &dbfile.Log{Log: wal.Log{Start: s.dir.LogStart(s.o.ListOptions)}, Unread: s.o.Unread}
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
			if err := s.endLog(l); err != nil {
				yield(Entry{}, err)
				return
			}
		}
	}
}

// endLog takes note of the damage of a log that was read. With Options.Strict it returns it.
func (s *Source) endLog(l *dbfile.Log) error {
	if unwritten := l.UnwrittenNote(); unwritten != "" {
		s.note("%s: %s", l.Path, unwritten)
	}
	err := l.DamageError()
	if err == nil || s.o.Strict {
		return err
	}
	s.logs.damage = append(slices.DeleteFunc(s.logs.damage, func(d *dbfile.Log) bool { return d.Path == l.Path }), l)
	s.logs.lost = max(s.logs.lost, l.HighestLost())
	return nil
}

// LogDamage returns the damage of the logs that were read. Where it has lost writes, older and deleted versions may show.
func (s *Source) LogDamage() error {
	var all []error
	for _, l := range s.logs.damage {
		all = append(all, l.DamageError())
	}
	return errors.Join(all...)
}

// MayHideKeys reports whether the directory or a log is damaged, so that the newest version of any key may be lost.
func (s *Source) MayHideKeys() bool { return s.Damage != nil || s.LogDamage() != nil }

// PrefetchLogs reads the logs once for all keys that will be looked up with Get.
func (s *Source) PrefetchLogs(keys ...[]byte) error {
	return s.untilUnchanged(func() error { return s.prefetchLogs(keys) })
}

func (s *Source) prefetchLogs(keys [][]byte) error {
	order := s.logOrder()
	var asked []Entry
	for _, key := range keys {
		asked = append(asked, Entry{Entry: dbfile.Entry{Key: bytes.Clone(key)}}) // the caller may change it
	}
	byKey := func(a, b Entry) int { return order.Compare(a.Key, b.Key) }
	slices.SortFunc(asked, byKey)
	asked = slices.CompactFunc(asked, func(a, b Entry) bool { return byKey(a, b) == 0 })
	for w, err := range s.logWrites() {
		if err != nil {
			return err
		}
		i, isAsked := slices.BinarySearchFunc(asked, w, byKey)
		if isAsked && (!asked[i].Internal || w.Compare(asked[i], order) <= 0) {
			w.Key, w.Value = bytes.Clone(w.Key), bytes.Clone(w.Value) // which can have other bytes than the key that was asked for
			asked[i] = w
		}
	}
	s.logs.asked = asked
	return nil
}

// logOrder returns the order of the keys in logs. In an unknown order only equal bytes are the same key.
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
	i, asked := slices.BinarySearchFunc(s.logs.asked, key, func(e Entry, key []byte) int { return s.logOrder().Compare(e.Key, key) })
	if !asked {
		if err := s.PrefetchLogs(key); err != nil {
			return Entry{}, false, err
		}
		i = 0
	}
	e = s.logs.asked[i]
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

// scanLogsInOrder returns the writes of the logs in the order in which they were written.
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
