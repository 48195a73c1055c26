package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/internalkey"
)

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
