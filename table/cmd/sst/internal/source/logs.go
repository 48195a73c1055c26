package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

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
		l := &dbfile.Log{Log: wal.Log{Start: s.dir.LogStart(s.o.ListOptions)}}
		for i, path := range s.logs.paths {
			l = l.Next(path)
			l.Standalone, l.FindMore = s.isLog, s.o.FindMore
			for w, err := range l.Writes() {
				e := Entry{Entry: dbfile.Entry{Key: w.UserKey, Value: w.Value, Internal: true, Sequence: w.Sequence, Kind: w.Kind}, Log: path, Offset: uint64(w.Offset)}
				if !yield(e, err) || err != nil {
					return
				}
			}
			if i == len(s.logs.paths)-1 {
				l.RequireUpTo(s.dir.Logged(s.o.ListOptions))
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

// LogDamage returns the damage of the logs that were read. Where it has lost writes, older and
// deleted versions may show.
func (s *Source) LogDamage() error {
	var all []error
	for _, l := range s.logs.damage {
		all = append(all, l.DamageError())
	}
	return errors.Join(all...)
}

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

// locationLen is the length of the location that precedes each value in the table of sorted
// logs.
const locationLen = 12

// logEntriesToSort returns the writes as entries. Each value is preceded by the location of
// the write.
func (s *Source) logEntriesToSort() iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		var key, value []byte
		for w, err := range s.logWrites() {
			key = table.InternalKey{UserKey: w.Key, Sequence: w.Sequence, Kind: w.Kind}.Append(key[:0])
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
