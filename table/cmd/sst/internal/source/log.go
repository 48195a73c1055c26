package source

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/internal/wire"
)

// A Log is a write-ahead log.
type Log struct {
	Path       string
	Standalone bool   // it may lack its start; otherwise it is read as a database reads it
	Start      uint64 // the highest sequence number that the oldest log of the database can start with; 0: not known

	// What reading has found so far.
	Size     int64
	Damage   []LogDamage // skipped parts
	More     int         // number of further skipped parts
	Torn     torn        // what was never written completely elsewhere
	Tail     int64       // size of what is at the end and was never written completely, after all was read
	ZeroTail bool        // that is zeros

	last    uint64    // sequence number of the last write, also of the logs before
	lacking bool      // the log before is not empty, and no write of it could be read
	pending bool      // no write after the last skipped part was read yet
	others  LogDamage // the sequence numbers that the further skipped parts may have had
}

// Writes yields the writes of the log in order. Each is valid until the next. Damaged parts
// are skipped, and added to Damage.
func (l *Log) Writes() iter.Seq2[LogWrite, error] {
	return func(yield func(LogWrite, error) bool) {
		f, info, err := regular.Open(l.Path)
		if err != nil {
			l.Start = 0 // if the log was removed, the next one goes on with any number
			yield(LogWrite{}, err)
			return
		}
		defer f.Close() // it was only read
		l.Size = info.Size()
		err = l.read(f, yield)
		if err == io.EOF {
			return
		}
		if err != nil {
			yield(LogWrite{}, fmt.Errorf("%s: %w", l.Path, err))
		}
	}
}

// A LogWrite is a write of a log, with its location.
type LogWrite struct {
	wal.Write
	Log    int // index of the log in its Source
	Offset int64
}

// Next returns the next log of the database, whose sequence numbers go on. l was read.
func (l *Log) Next(path string) *Log {
	next := &Log{Path: path, Start: l.Start}
	if l.Start > 0 {
		next.last, next.lacking = l.last, l.last == 0 && l.Size > 0
	}
	return next
}

// read yields the writes. It returns io.EOF at the end, and nil if yield wants no more.
func (l *Log) read(f io.ReaderAt, yield func(LogWrite, error) bool) error {
	open := wal.NewLogReader
	if l.Standalone {
		open = wal.NewCarvedReader
	}
	r, err := open(f, l.Size, l.report)
	if err != nil {
		return err
	}
	for {
		record, offset, err := r.Next()
		if err == io.EOF {
			l.Tail, l.ZeroTail = l.Size-r.Offset(), r.EndsInZeros()
			l.Torn.end()
		}
		if err != nil {
			return err
		}
		if !l.batch(record, offset, yield) {
			return nil
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
		l.follow(w.Sequence, offset)
		if !yield(LogWrite{Write: w, Offset: offset}, nil) {
			return false
		}
	}
	return true
}

// Verify checks the log. It returns the damage and, for a sound log, a remark.
func (l *Log) Verify() (remark string, err error) {
	for _, err := range l.Writes() {
		if err != nil {
			return "", err
		}
	}
	if unwritten := l.UnwrittenNote(); unwritten != "" {
		remark = ", but " + unwritten
	}
	return remark, l.DamageError()
}

// UnwrittenNote says what was never written completely, or returns "".
func (l *Log) UnwrittenNote() string {
	notes := []string{l.Torn.note(), l.tailNote()}
	return strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), ", and ")
}

// tailNote is UnwrittenNote for what is at the end.
func (l *Log) tailNote() string {
	if l.Tail == 0 {
		return ""
	}
	what, are := "an incomplete record, which is ignored", "are"
	if l.ZeroTail {
		what = "zeros, which are ignored"
	}
	if l.Tail == 1 {
		are = "is"
	}
	return fmt.Sprintf("%s at its end %s %s", wire.Plural(uint64(l.Tail), "byte"), are, what)
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
