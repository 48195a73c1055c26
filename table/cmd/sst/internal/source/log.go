package source

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/wal"
)

// maxListedDamage is the maximum length of Log.Damage.
const maxListedDamage = 100

// A Log is a write-ahead log.
type Log struct {
	Path          string
	Standalone    bool // it may lack its start; otherwise it is read as a database reads it
	Size          int64
	Damage        []wal.Damage // skipped parts so far
	MoreDamage    int          // number of further skipped parts
	TruncatedTail int64        // size of an incomplete record at the end, after all was read
}

// report adds a skipped part, or extends the last one, if that is adjacent and has the same
// reason.
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

// Reports describes the skipped parts.
func (l *Log) Reports() []string {
	var reports []string
	for _, d := range l.Damage {
		reports = append(reports, d.Error())
	}
	if l.MoreDamage > 0 {
		reports = append(reports, fmt.Sprintf("log: %d more damaged parts skipped", l.MoreDamage))
	}
	return reports
}

// A LogWrite is a write of a log, with its location.
type LogWrite struct {
	wal.Write
	Log    int // index of the log in its Source
	Offset int64
}

// Writes yields the writes of the log in order. Each is valid until the next. Damaged parts
// are skipped, and added to Damage.
func (l *Log) Writes() iter.Seq2[LogWrite, error] {
	return func(yield func(LogWrite, error) bool) {
		f, info, err := regular.Open(l.Path)
		if err != nil {
			yield(LogWrite{}, err)
			return
		}
		defer f.Close() // it was only read
		l.Size = info.Size()
		open := wal.NewLogReader
		if l.Standalone {
			open = wal.NewCarvedReader
		}
		r, err := open(f, l.Size, l.report)
		if err != nil {
			yield(LogWrite{}, fmt.Errorf("%s: %w", l.Path, err))
			return
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

// batch yields the writes of a batch. It reports whether yield wants more.
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

// VerifyLog checks a log. It returns the damage and, for a sound log, a remark.
func VerifyLog(path string) (remark string, err error) {
	l := Log{Path: path}
	for _, err := range l.Writes() {
		if err != nil {
			return "", err
		}
	}
	if l.TruncatedTail > 0 {
		are := "are"
		if l.TruncatedTail == 1 {
			are = "is"
		}
		remark = fmt.Sprintf(", but %s at its end %s an incomplete record, which is ignored", text.Plain(uint64(l.TruncatedTail), "byte"), are)
	}
	return remark, l.DamageError()
}

// DamageError returns the skipped parts as an error, or nil.
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
