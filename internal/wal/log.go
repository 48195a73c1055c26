package wal

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
)

// A Log is a write-ahead log of a database. Writes reads it, and records its damage and which writes are lost.
type Log struct {
	Standalone bool   // the log may lack its start; otherwise it is read as a database reads it
	Start      uint64 // the highest sequence number that can start the database's oldest log; 0: unknown

	// The last log of a database contains the writes with sequence numbers > After and ≤ UpTo.
	After, UpTo uint64

	Stored []Stored // transactions since the oldest live log began, in order

	// The results of reading so far.
	Size     int64
	Damage   []LogDamage // losses; the last one can summarize many: see Further
	Torn     torn        // incomplete records before the end
	Tail     int64       // size of the incomplete record or zeros at the end, when the log has been read
	ZeroTail bool        // the tail is only zeros
	Doubtful *LogDamage  // missing writes before the log, which may be lost or stored; nil: none
	zeroEnd  bool        // the log ends in zeros

	last    uint64  // highest sequence number read, including the logs before
	sure    uint64  // highest sequence number that is certainly not from a log in a value
	lacking bool    // the log before is not empty, but none of its writes could be read
	numbers numbers // checks what is found after damage
	unsure  uint64  // highest sequence number that may be from a log in a value; any, if the numbers step back
	joined  uint64  // first sequence number of the last batch, if it has several fragments; else 0

	malformed  bool // the last batch with writes is malformed
	endsUnsure bool // the last write read may be from a log in a value

	wasRead, isNext bool  // this log was read; the log before was read
	endBefore       int64 // end of the log before, without its Tail
	tornBefore      bool  // the log before has a Tail
}

// Next returns the database's next log, which continues the sequence numbers of l. It is called after l was read.
func (l *Log) Next() Log {
	next := Log{Start: l.Start, Stored: l.Stored, isNext: l.wasRead, endBefore: l.Size - l.Tail, tornBefore: l.Tail > 0}
	if l.Start > 0 {
		next.last, next.sure, next.joined, next.lacking = l.last, l.sure, l.joined, l.last == 0 && l.Size > 0
	}
	return next
}

// Last returns the highest sequence number read, including the logs before, or 0 if no write was read.
func (l *Log) Last() uint64 { return l.last }

// Skip records that the log is a file of size bytes that is damaged as a whole.
func (l *Log) Skip(size int64, reason string) {
	l.Size, l.wasRead = size, true
	l.report(Damage{Bytes: size, Reason: reason})
}

// Writes yields the writes of the log in order: the first size bytes of r. Each is valid until the next. Damaged
// parts are skipped, and added to Damage. A read error, or the error for a record that is too large, ends the
// sequence.
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
		open = newCarvedReader
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

// batch yields the writes of a batch, whose record ends at offset end. It reports whether yield wants more.
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

// UnwrittenNote describes Doubtful, and the incomplete records and the zeros at the end, or returns "".
func (l *Log) UnwrittenNote() string {
	const one = "an incomplete record, which is ignored"
	var notes []string
	if l.Doubtful != nil {
		notes = append(notes, "writes before it are missing: "+l.Doubtful.lost())
	}
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
