package wal

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
)

// A Log is a write-ahead log of a database. Writes reads it, and finds out what is damaged and
// which writes are lost.
type Log struct {
	Standalone bool   // it may lack its start; otherwise it is read as a database reads it
	Start      uint64 // the highest sequence number that the oldest log of the database can start with; 0: not known

	// The last log of a database has the writes with sequence numbers > After and ≤ UpTo.
	After, UpTo uint64

	// What reading has found so far.
	Size     int64
	Damage   []LogDamage // skipped parts; the last can stand for many: see Further
	Torn     torn        // what was never written completely elsewhere
	Tail     int64       // size of what is at the end and was never written completely, after all was read
	ZeroTail bool        // that is zeros
	zeroEnd  bool        // its end is zeros

	last    uint64  // sequence number of the last write, also of the logs before
	sure    uint64  // that of the last one that is not of a log in a value
	lacking bool    // the log before is not empty, and no write of it could be read
	numbers numbers // checks what is found behind damage
	unsure  uint64  // highest sequence number of a write that may be of a log in a value
	joined  uint64  // sequence number of the first write of the last batch, if that has several fragments; or 0
	back    bool    // the sequence numbers step back

	malformed  bool // the last batch with writes is malformed
	endsUnsure bool // the last write that was read may be of a log in a value

	wasRead, isNext bool  // it was read; the log before was
	endBefore       int64 // where the writes of the log before end, without what was never written completely
}

// Next returns the next log of the database, whose sequence numbers go on. l was read.
func (l *Log) Next() Log {
	next := Log{Start: l.Start, isNext: l.wasRead, endBefore: l.Size - l.Tail}
	if l.Start > 0 {
		next.last, next.sure, next.joined, next.lacking = l.last, l.sure, l.joined, l.last == 0 && l.Size > 0
	}
	return next
}

// Last returns the highest sequence number of the writes that were read, also of the logs before, or
// 0 if there were none.
func (l *Log) Last() uint64 { return l.last }

// Skip takes note of a file of size bytes in the place of the log: all of it is damage.
func (l *Log) Skip(size int64, reason string) {
	l.Size, l.wasRead = size, true
	l.report(Damage{Bytes: size, Reason: reason})
}

// Writes yields the writes of the log in order: the first size bytes of r. Each is valid until the
// next. Damaged parts are skipped, and added to Damage. An error is one of r, or a record that is too
// large, and ends it.
func (l *Log) Writes(r io.ReaderAt, size int64) iter.Seq2[Write, error] {
	return func(yield func(Write, error) bool) {
		l.Size, l.wasRead = size, true
		if err := l.read(r, yield); err != nil && err != io.EOF {
			yield(Write{}, err)
		}
	}
}

// read yields the writes. It returns io.EOF at the end, and nil if yield wants no more.
func (l *Log) read(f io.ReaderAt, yield func(Write, error) bool) error {
	open := NewLogReader
	if l.Standalone {
		open = NewCarvedReader
	}
	r, err := open(f, l.Size, l.report)
	if err != nil {
		return err
	}
	r.FindMore()
	l.numbers, r.numbers = numbers{log: f, last: l.sure}, &l.numbers
	for {
		record, offset, err := r.Next()
		if err == io.EOF {
			l.Tail, l.ZeroTail, l.zeroEnd = l.Size-r.Offset(), r.EndsInZeros(), r.zeros.size-r.zeros.from >= minTornZeros
			l.endTorn(true)
			l.checkEnd()
		}
		if err != nil {
			return err
		}
		if !l.batch(record, offset, r.Offset(), yield) {
			return nil
		}
	}
}

// batch yields the writes of a batch, whose record ends at an offset end. It reports whether yield wants
// more.
func (l *Log) batch(record []byte, offset, end int64, yield func(Write, error) bool) (more bool) {
	for w, err := range Writes(record) {
		if err != nil {
			l.malformed = l.numbers.end == end // it has writes
			l.report(Damage{Offset: offset, Bytes: int64(len(record)), Reason: err.Error()})
			return true
		}
		l.follow(w.Sequence, offset)
		l.numbers.last, l.numbers.end, l.joined, l.malformed = w.Sequence, end, 0, false
		if end-offset > FragmentHeaderLen+int64(len(record)) {
			l.joined, _, _ = batchHeader(record)
		}
		w.Offset = offset
		if !yield(w, nil) {
			return false
		}
	}
	return true
}

// UnwrittenNote says what was never written completely, or returns "".
func (l *Log) UnwrittenNote() string {
	const one = "an incomplete record, which is ignored"
	var notes []string
	add := func(bytes int64, are, what string) {
		notes = append(notes, fmt.Sprintf("%s %s %s", format.Plural(uint64(bytes), "byte"), are, what))
	}
	switch n := l.Torn.Records; {
	case n == 1:
		add(l.Torn.Bytes, "in it are", one)
	case n > 1:
		add(l.Torn.Bytes, "in it are", fmt.Sprintf("%d incomplete records, which are ignored", n))
	}
	what, are := one, "at its end are"
	switch {
	case l.ZeroTail:
		what = "zeros, which are ignored"
	case l.zeroEnd:
		what = "an incomplete record and zeros, which are ignored"
	}
	if l.Tail == 1 {
		are = "at its end is"
	}
	if l.Tail > 0 {
		add(l.Tail, are, what)
	}
	return strings.Join(notes, ", and ")
}
