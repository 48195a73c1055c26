package source

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/wal"
)

// maxListedDamage is how many skipped parts of a log are kept.
const maxListedDamage = 100

// A Log is a log of a database.
type Log struct {
	Path          string
	Standalone    bool // it may lack its start; else it is read as its database does
	Size          int64
	Damage        []wal.Damage // what of it was skipped, as far as it was read
	MoreDamage    int          // how often more was
	TruncatedTail int64        // bytes at its end that are a record cut short, when all was read
}

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
		reports = append(reports, fmt.Sprintf("log: %d more damaged parts skipped", l.MoreDamage))
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
		but = fmt.Sprintf(", but its last %d bytes are an incomplete record, which is ignored", l.TruncatedTail)
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
