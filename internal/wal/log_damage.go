package wal

import (
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// maxListedDamage is how many parts Log.Damage lists one by one.
const maxListedDamage = 100

// A LogDamage is a part of a log that is skipped, or writes that it lacks.
type LogDamage struct {
	Damage
	After, Before uint64 // what is lost has sequence numbers between these; 0: no bound is known
	InLogBefore   bool   // it is at the end of the log before this one, and so is Offset
	Further       int    // how many further parts this stands for, of which only After and Before are known; 0: it is one part
	joined        uint64 // sequence number of the first write of the batch before it, if that may be joined of two batches; or 0
	malformed     bool   // that batch is malformed
}

func (d LogDamage) Error() string {
	switch {
	case d.Further > 0:
		return fmt.Sprintf("log: %d more damaged parts skipped: %s", d.Further, d.lost())
	case d.Bytes == 0:
		return fmt.Sprintf("offset %d: %s: %s", d.Offset, d.Reason, d.lost())
	}
	return d.Damage.Error() + ": " + d.lost()
}

// lost says which writes are lost.
func (d LogDamage) lost() string {
	switch first, last := d.After+1, d.Before-1; {
	case d.After == 0 && d.Before == 0:
		return "its writes are lost"
	case d.After == 0:
		return fmt.Sprintf("writes with sequence numbers < %d may be lost", d.Before)
	case d.Before == 0:
		return fmt.Sprintf("writes with sequence numbers > %d may be lost", d.After)
	case d.stepsBack():
		return fmt.Sprintf("it is unknown which writes are lost, because sequence numbers step back from %d to %d", d.After, d.Before)
	case first > last && d.Unread:
		return "writes that engines do not read either may be lost"
	case first > last:
		return fmt.Sprintf("no writes are lost, because sequence numbers %d and %d are both present", d.After, d.Before)
	case first == last:
		return fmt.Sprintf("the write with sequence number %d is lost", first)
	default:
		return fmt.Sprintf("the writes with sequence numbers %d to %d are lost", first, last)
	}
}

// stepsBack reports whether the writes after it have lower sequence numbers than those before it. Then
// either are not of the log, or it is not what its writer wrote.
func (d LogDamage) stepsBack() bool { return d.Before != 0 && d.Before <= d.After }

// numbers returns the lowest and the highest sequence number that a write can have that is lost or may be joined of
// two. If first > last, there is none.
func (d LogDamage) numbers() (first, last uint64) {
	if d.stepsBack() || d.Unread {
		return 0, internalkey.MaxSequence
	}
	first, last = d.After+1, internalkey.MaxSequence
	// Without a gap behind it, a sound batch is not joined: the numbers of two would have been more.
	if d.joined > 0 && (d.malformed || d.Before == 0 || d.Before > first) {
		first = min(first, d.joined)
	}
	if d.Before > 0 {
		last = d.Before - 1
	}
	return first, last
}

// MayHaveLost reports whether a write with that sequence number can be one of those that HighestLost is about.
func (l *Log) MayHaveLost(sequence uint64) bool {
	return l.back || sequence <= l.unsure || slices.ContainsFunc(l.Damage, func(d LogDamage) bool {
		first, last := d.numbers()
		return sequence >= first && sequence <= last
	})
}

// HighestLost returns the highest sequence number that a write in a skipped part can have had, or that a
// write has that may be of another log, which is stored as a value. It is 0 if there is none of either.
func (l *Log) HighestLost() (highest uint64) {
	if l.back {
		return internalkey.MaxSequence
	}
	highest = l.unsure
	for _, d := range l.Damage {
		if first, last := d.numbers(); first <= last {
			highest = max(highest, last)
		}
	}
	return highest
}

// report adds a skipped part, or extends the last one, if that is adjacent and has the same
// reason.
func (l *Log) report(d Damage) {
	sequence, _, mayBeTorn := batchHeader(d.Torn)
	l.endTorn(mayBeTorn && sequence <= l.Torn.sequence)
	if !mayBeTorn {
		l.addPart(d)
		return
	}
	d.Torn, l.Torn.begun, l.Torn.sequence = nil, &d, sequence
}

func (l *Log) addPart(d Damage) {
	if n := len(l.Damage); n > 0 {
		if last := &l.Damage[n-1]; last.Reason == d.Reason && last.Offset+last.Bytes == d.Offset {
			last.Bytes += d.Bytes
			return
		}
	}
	l.add(LogDamage{Damage: d, After: l.last})
}

// add adds a loss. Where blocks are lost, the first fragment of a batch and the last one of another make one record.
func (l *Log) add(d LogDamage) {
	d.joined, d.malformed = l.joined, l.malformed
	switch n := len(l.Damage); {
	case n < maxListedDamage:
		l.Damage = append(l.Damage, d)
	case n == maxListedDamage:
		l.Damage = append(l.Damage, LogDamage{
			Damage: Damage{Unread: d.Unread}, After: d.After, Before: d.Before, Further: 1, joined: d.joined, malformed: d.malformed,
		})
	default:
		last := &l.Damage[n-1]
		last.Before, last.Unread, last.malformed = d.Before, last.Unread || d.Unread, last.malformed || d.malformed
		last.Further++
	}
}

// isPending reports whether no write after the last skipped part was read yet.
func (l *Log) isPending() bool { n := len(l.Damage); return n > 0 && l.Damage[n-1].Before == 0 }

// follow takes note of the sequence number of the next write. It bounds what damage before it has
// lost. The numbers of a log are consecutive, so a gap says that writes are lost, wherever they were.
func (l *Log) follow(sequence uint64, offset int64) {
	l.endTorn(sequence <= l.Torn.sequence)
	if l.numbers.end == 0 && l.sure < sequence && sequence <= l.last {
		l.forgetUnsure()
	}
	switch {
	case l.isPending():
		for i := len(l.Damage) - 1; i >= 0 && l.Damage[i].Before == 0; i-- {
			l.Damage[i].Before = sequence
		}
	case l.last > 0 && sequence > l.last+1, l.last == 0 && (l.lacking || l.Start > 0 && sequence > l.Start):
		l.add(l.gapBefore(sequence, offset))
	case l.numbers.end == 0 && l.last > 0 && sequence <= l.last: // an old log, or a copy of one, in the place of another
		l.add(missing(offset, "it does not go on where the log before ends", l.last, sequence))
	}
	l.back = l.back || l.last > 0 && sequence <= l.last
	if l.endsUnsure = offset < l.numbers.unsure; l.endsUnsure {
		l.unsure = max(l.unsure, sequence)
	} else {
		l.sure = max(l.sure, sequence)
	}
	l.last = max(l.last, sequence)
}

// forgetUnsure makes a log go on from the last write of the log before that is certain: the first write says that
// those behind it were of a log in a value.
func (l *Log) forgetUnsure() {
	for i := range l.Damage {
		l.Damage[i].After = l.sure
	}
	l.last = l.sure
}

// checkEnd takes note, after all was read, of writes at the end that the log lacks. If those that were found
// there by a search may be of a log in a value, what is lost before them can have any number.
func (l *Log) checkEnd() {
	if n := len(l.Damage); n > 0 && l.endsUnsure && l.numbers.guessed == l.numbers.unsure {
		l.Damage[n-1].Before = 0
	}
	if after := max(l.After, l.last); after < l.UpTo && !l.isPending() {
		l.add(missing(l.Size-l.Tail, "writes that the MANIFEST counts are missing at the end", after, l.UpTo+1))
	}
}

// gapBefore returns the loss of the writes before one with a sequence number, where nothing is damaged. If
// it is the first of its log, the log before has lost its end: a log that has lost its start begins with damage.
func (l *Log) gapBefore(sequence uint64, offset int64) LogDamage {
	d := missing(offset, "writes before this offset are missing", l.last, sequence)
	switch {
	case l.numbers.end == 0 && l.isNext:
		d.Offset, d.Reason, d.InLogBefore = l.endBefore, "writes between its end and the next log are missing", true
	case offset == 0:
		d.Reason = "writes before this log are missing"
	}
	return d
}

// missing returns the loss of writes that a log lacks at an offset.
func missing(offset int64, reason string, after, before uint64) LogDamage {
	return LogDamage{Damage: Damage{Offset: offset, Reason: reason}, After: after, Before: before}
}

// torn is what a log has of batches whose writing was interrupted, when the next one has the same
// sequence number: the process was killed, and the database was opened again and went on with this
// log, as C++ LevelDB does with reuse_logs. Such a batch was never written for the database.
type torn struct {
	Records int
	Bytes   int64

	begun    *Damage // one that may be torn: what follows says it
	sequence uint64  // of its first write
}

// endTorn ends a record that may be torn. If it is not, it is damage.
func (l *Log) endTorn(isTorn bool) {
	t := &l.Torn
	switch {
	case t.begun == nil:
	case isTorn:
		t.Records++
		t.Bytes += t.begun.Bytes
	default:
		l.addPart(*t.begun)
	}
	t.begun = nil
}

// A Corruption is damage of a database that is not in a table. It is table.ErrCorrupt.
type Corruption string

func (c Corruption) Error() string { return string(c) }

// Is reports whether target is table.ErrCorrupt.
func (Corruption) Is(target error) bool { return target == table.ErrCorrupt }

// Corruptionf returns a Corruption with a message as of fmt.Sprintf.
func Corruptionf(format string, args ...any) error { return Corruption(fmt.Sprintf(format, args...)) }
