package source

import (
	"errors"
	"fmt"
	"iter"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wal"
)

// A Log is a file that is a write-ahead log.
type Log struct {
	Path string
	wal.Log

	before string // the path of the log before, in a database
}

// Writes yields the writes of the log in order. Each is valid until the next. Damaged parts
// are skipped, and added to Damage.
func (l *Log) Writes() iter.Seq2[wal.Write, error] {
	return func(yield func(wal.Write, error) bool) {
		f, info, err := regular.Open(l.Path)
		size, start := int64(0), []byte(nil)
		if err == nil {
			defer f.Close() // it was only read
			size, start = info.Size(), startOf(f)
		}
		if s, found := standInOf(l.Path, start, err); found {
			l.Skip(size, s.what+" ("+s.next+")")
			return
		}
		if err != nil {
			l.Start = 0 // if the log was removed, the next one goes on with any number
			yield(wal.Write{}, err)
			return
		}
		for w, err := range l.Log.Writes(f, size) {
			if err != nil {
				err = fmt.Errorf("%s: %w", l.Path, err)
			}
			if !yield(w, err) {
				return
			}
		}
	}
}

// Next returns the next log of the database, whose sequence numbers go on. l was read.
func (l *Log) Next(path string) *Log { return &Log{path, l.Log.Next(), l.Path} }

// Verify checks the log. It returns the damage and, for a sound log, a remark. inTables is the highest sequence
// number in the tables of the database: those of the log are higher, since engines put whole logs into tables.
func (l *Log) Verify(inTables uint64) (remark string, err error) {
	var old error
	for w, err := range l.Writes() {
		if err != nil {
			return "", err
		}
		if old == nil && w.Sequence <= inTables {
			old = corruption(fmt.Sprintf("log at %d: the write has sequence number %d, but tables have numbers up to %d, so the log is an old one, and not all engines read its writes", w.Offset, w.Sequence, inTables))
		}
	}
	if unwritten := l.UnwrittenNote(); unwritten != "" {
		remark = ", but " + unwritten
	}
	if old != nil {
		old = &FileError{l.Path, old}
	}
	return remark, errors.Join(l.DamageError(), old)
}

// DamageError returns the skipped parts as an error, or nil. Parts that have lost the same writes are one. What
// the log before has lost is found here, by the sequence numbers, and named as its damage.
func (l *Log) DamageError() error {
	var before, errs []error
	reports := l.Reports()
	for i := 0; i < len(reports); i++ {
		switch n := l.sameLoss(i); {
		case n == 0: // the summary of what is not listed
			errs = append(errs, corruption(reports[i]))
		case l.Damage[i].InLogBefore:
			before = append(before, &FileError{l.before, corruption(reports[i])})
		default:
			d := l.Damage[i]
			for _, more := range l.Damage[i+1 : i+n] {
				d.Bytes += more.Bytes
			}
			if n > 1 {
				d.Reason += fmt.Sprintf(", and %d more behind it", n-1)
			}
			errs = append(errs, corruption(d.Error()))
			i += n - 1
		}
	}
	if errs == nil {
		return errors.Join(before...)
	}
	return errors.Join(append(before, &FileError{l.Path, errors.Join(errs...)})...)
}

// sameLoss returns how many parts from one on have lost the same writes. It is 0 if the part is not listed.
func (l *Log) sameLoss(from int) (n int) {
	for _, d := range l.Damage[min(from, len(l.Damage)):] {
		first := l.Damage[from]
		if d.InLogBefore != first.InLogBefore || d.After != first.After || d.Before != first.Before {
			break
		}
		n++
	}
	return n
}
