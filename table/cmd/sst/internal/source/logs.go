package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/wal"
)

// A Log is a log of a database.
type Log struct {
	Path          string
	Standalone    bool // it may lack its start; else it is read as its database does
	Size          int64
	Damage        []wal.Damage // what of it was skipped, as far as it was read
	MoreDamage    int          // how often more was
	TruncatedTail int64        // bytes at its end that are a record cut short, when all was read
}

// maxListedDamage is how many skipped parts of a log are kept.
const maxListedDamage = 100

// report keeps what was skipped. What is skipped for the same reason right behind what was
// before is one part.
func (l *Log) report(d wal.Damage) {
	if n := len(l.Damage); n > 0 {
		if last := &l.Damage[n-1]; last.Reason == d.Reason && last.Offset+last.Bytes == d.Offset {
			last.Bytes += d.Bytes
			return
		}
	}
	if len(l.Damage) == maxListedDamage {
		l.MoreDamage++
		return
	}
	l.Damage = append(l.Damage, d)
}

// Reports returns what was skipped in words.
func (l *Log) Reports() []string {
	var reports []string
	for _, d := range l.Damage {
		reports = append(reports, d.Error())
	}
	if l.MoreDamage > 0 {
		reports = append(reports, fmt.Sprintf("log: skipped %d times more", l.MoreDamage))
	}
	return reports
}

// A LogWrite is a write of a log, with where its batch is.
type LogWrite struct {
	wal.Write
	Log    int // which of the logs of a Source
	Offset int64
}

// Writes returns the writes of the log in the order that they were made, each valid until
// the next. What is damaged is skipped, and added to Damage.
func (l *Log) Writes() iter.Seq2[LogWrite, error] {
	return func(yield func(LogWrite, error) bool) {
		f, info, err := regular.Open(l.Path)
		if err != nil {
			yield(LogWrite{}, err)
			return
		}
		defer f.Close() // it was only read
		l.Size = info.Size()
		r := wal.NewReader(io.NewSectionReader(f, 0, l.Size), l.report)
		if l.Standalone {
			r = wal.NewCarvedReader(f, l.Size, l.report)
		}
		for {
			record, offset, err := r.Next()
			if err == io.EOF {
				l.TruncatedTail = l.Size - r.Offset()
				return
			}
			if err != nil {
				yield(LogWrite{}, fmt.Errorf("%s: %w", l.Path, err))
				return
			}
			if !l.batch(record, offset, yield) {
				return
			}
		}
	}
}

// batch yields the writes of a record, as long as yield wants more.
func (l *Log) batch(record []byte, offset int64, yield func(LogWrite, error) bool) (more bool) {
	for w, err := range wal.Writes(record) {
		if err != nil {
			l.report(wal.Damage{Offset: offset, Bytes: int64(len(record)), Reason: err.Error()})
			return true
		}
		if !yield(LogWrite{Write: w, Offset: offset}, nil) {
			return false
		}
	}
	return true
}

// VerifyLog returns what is damaged of a log, and what is to be said of a sound one.
func VerifyLog(path string) (but string, err error) {
	l := Log{Path: path}
	for _, err := range l.Writes() {
		if err != nil {
			return "", err
		}
	}
	if l.TruncatedTail > 0 {
		but = fmt.Sprintf(", but its last %d bytes are a record that is cut short, which does not count", l.TruncatedTail)
	}
	return but, l.DamageError()
}

// DamageError returns the damage of the log as an error, or nil.
func (l *Log) DamageError() error {
	var errs []error
	for _, report := range l.Reports() {
		errs = append(errs, corruption(report))
	}
	if errs == nil {
		return nil
	}
	return &FileError{l.Path, errors.Join(errs...)}
}

// logs are the logs of a Source: the oldest first.
type logs struct {
	paths  []string
	newest map[string]Entry // the newest write to each key that was asked for; with no sequence number, there is none
	sorted *sortedTable     // all writes, or nil
}

// logWrites returns the logWrites of all logs, and notes their damage.
func (s *Source) logWrites() iter.Seq2[LogWrite, error] {
	return func(yield func(LogWrite, error) bool) {
		for i, path := range s.logs.paths {
			l := Log{Path: path, Standalone: s.isLog}
			for w, err := range l.Writes() {
				w.Log = i
				if !yield(w, err) || err != nil {
					return
				}
			}
			for _, report := range l.Reports() {
				s.note("%s: %s", path, report)
			}
		}
	}
}

// PrefetchLogs has the logs gone through once for all keys that Get will be called with.
func (s *Source) PrefetchLogs(keys ...[]byte) error {
	var err error
	for range maxTries {
		if err = s.prefetchLogs(keys); !s.reopenIfChanged(err) {
			break
		}
	}
	return err
}

func (s *Source) prefetchLogs(keys [][]byte) error {
	newest := map[string]Entry{}
	for _, key := range keys {
		newest[string(key)] = Entry{}
	}
	same := s.equalKeys(keys)
	for w, err := range s.logWrites() {
		if err != nil {
			return err
		}
		s.recordNewest(newest, string(w.UserKey), w)
		for _, key := range same(w.UserKey) {
			s.recordNewest(newest, string(key), w)
		}
	}
	s.logs.newest = newest
	return nil
}

// recordNewest takes a write to a key that was asked for, if it is the newest so far.
func (s *Source) recordNewest(newest map[string]Entry, key string, w LogWrite) {
	e, asked := newest[key]
	if !asked || e.Internal && (w.Sequence < e.Sequence || w.Sequence == e.Sequence && w.Kind < e.Kind) {
		return
	}
	e = s.logs.newEntry(w)
	e.Key, e.Value = bytes.Clone(e.Key), bytes.Clone(e.Value)
	newest[key] = e
}

// equalKeys returns what returns those of keys that are the same as a user's key in the order,
// and other bytes.
func (s *Source) equalKeys(keys [][]byte) func(user []byte) [][]byte {
	if s.Order == table.BytewiseComparer || s.Order == table.AnyOrder {
		return func([]byte) [][]byte { return nil }
	}
	keys = slices.SortedFunc(slices.Values(keys), s.Order.Compare)
	return func(user []byte) [][]byte {
		i, _ := slices.BinarySearchFunc(keys, user, s.Order.Compare)
		n := i
		for n < len(keys) && s.Order.Compare(keys[n], user) == 0 {
			n++
		}
		return slices.DeleteFunc(slices.Clone(keys[i:n]), func(key []byte) bool { return bytes.Equal(key, user) })
	}
}

// getFromLogs returns the newest write to a key in the logs, which may be a deletion.
func (s *Source) getFromLogs(key []byte) (e Entry, found bool, err error) {
	e, asked := s.logs.newest[string(key)]
	if !asked && len(s.logs.paths) > 0 {
		if err := s.PrefetchLogs(key); err != nil {
			return Entry{}, false, err
		}
		e = s.logs.newest[string(key)]
	}
	return e, e.Internal, nil
}

// openSortedLogs makes a table of all writes of the logs, if there are logs.
func (s *Source) openSortedLogs() error {
	if s.logs.sorted != nil || len(s.logs.paths) == 0 {
		return nil
	}
	var err error
	s.logs.sorted, err = newSortedTable(s.logEntriesToSort(), s.Order, true)
	return err
}

// locationLen is how many bytes of a value of the table of logs say where it was found.
const locationLen = 12

// logEntriesToSort returns the writes as entries of a table: values have where they are before them.
func (s *Source) logEntriesToSort() iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		var key, value []byte
		for w, err := range s.logWrites() {
			key = w.Append(key[:0])
			value = binary.LittleEndian.AppendUint32(value[:0], uint32(w.Log))
			value = binary.LittleEndian.AppendUint64(value, uint64(w.Offset))
			value = append(value, w.Value...)
			if !yield(input.Pair{Key: key, Value: value}, err) {
				return
			}
		}
	}
}

// decodeSorted is the reverse of logPairs.
func (l *logs) decodeSorted(key, value []byte) (Entry, error) {
	e, err := parseEntry(key, value[locationLen:], true)
	e.Log, e.Offset = l.paths[binary.LittleEndian.Uint32(value)], binary.LittleEndian.Uint64(value[4:])
	return e, err
}

// scanLogsInOrder returns the writes of the logs as they were made.
func (s *Source) scanLogsInOrder(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for w, err := range s.logWrites() {
			before := o.From != nil && s.Order.Compare(w.UserKey, o.From) < 0
			if err == nil && (before || o.To != nil && s.Order.Compare(w.UserKey, o.To) >= 0) {
				continue
			}
			if !yield(s.logs.newEntry(w), err) {
				return
			}
		}
	}
}

func (l *logs) newEntry(w LogWrite) Entry {
	return Entry{Key: w.UserKey, Value: w.Value, Internal: true, Sequence: w.Sequence, Kind: w.Kind, Log: l.paths[w.Log], Offset: uint64(w.Offset)}
}

// ignoreLogs leaves the logs unread: they are of keys of another kind.
func (s *Source) ignoreLogs() {
	for _, path := range s.logs.paths {
		s.Notes = append(s.Notes, fmt.Sprintf("%s may hold writes that are in no table yet, and are not seen: the keys of the tables are not internal keys", path))
	}
	s.logs.paths = nil
}
