package wal

import (
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// maxListedDamage is the number of losses that Log.Damage lists one by one.
const maxListedDamage = 100

// A LogDamage is a skipped part of a log, or a place where writes are missing.
type LogDamage struct {
	Damage
	After, Before uint64 // the lost writes have sequence numbers between these; 0: unknown
	InLogBefore   bool   // the loss and Offset are at the end of the log before this one
	Further       int    // number of further parts, the first at Offset, that this summarizes by After and Before; 0: it is one part
	mayBeStored   bool   // a transaction may have the writes
	joined        uint64 // first sequence number of the batch before it, if that may be two joined batches; else 0
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

// lost describes the lost writes.
func (d LogDamage) lost() string {
	if d.mayBeStored {
		d.mayBeStored = false
		return "unless a transaction has them, " + d.lost()
	}
	switch first, last := d.After+1, d.Before-1; {
	case d.After == 0 && d.Before == 0:
		return "its writes are lost"
	case d.After == 0:
		return fmt.Sprintf("writes with sequence numbers < %d may be lost", d.Before)
	case d.Before == 0:
		return fmt.Sprintf("writes with sequence numbers > %d may be lost", d.After)
	case d.StepsBack():
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

// StepsBack reports whether the writes after the loss have lower sequence numbers than those before it. Then some of
// them do not belong to the log, or the log is not as it was written.
func (d LogDamage) StepsBack() bool { return d.Before != 0 && d.Before <= d.After }

// numbers returns the lowest and the highest possible sequence number of a write that is lost or belongs to a batch
// that may be two joined batches. If first > last, there is no such write.
func (d LogDamage) numbers() (first, last uint64) {
	if d.StepsBack() || d.Unread {
		return 0, internalkey.MaxSequence
	}
	first, last = d.After+1, internalkey.MaxSequence
	// A sound batch without a gap after it is not joined: two batches would have more sequence numbers.
	if d.joined > 0 && (d.malformed || d.Before == 0 || d.Before > first) {
		first = min(first, d.joined)
	}
	if d.Before > 0 {
		last = d.Before - 1
	}
	return first, last
}

// MayHaveLost reports whether a write with that sequence number may be lost or uncertain: see HighestLost.
func (l *Log) MayHaveLost(sequence uint64) bool {
	return sequence <= l.unsure || slices.ContainsFunc(l.Losses(), func(d LogDamage) bool {
		first, last := d.numbers()
		return sequence >= first && sequence <= last
	})
}

// HighestLost returns the highest possible sequence number of a lost or uncertain write. A write is uncertain if it
// may be from another log that is stored as a value. If there is none of either, HighestLost returns 0.
func (l *Log) HighestLost() (highest uint64) {
	highest = l.unsure
	for _, d := range l.Losses() {
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

// add adds a loss. If blocks are lost, the first fragment of one batch and the last fragment of another can form one
// record.
func (l *Log) add(d LogDamage) {
	d.joined, d.malformed = l.joined, l.malformed
	switch n := len(l.Damage); {
	case n < maxListedDamage:
		l.Damage = append(l.Damage, d)
	case n == maxListedDamage:
		d.Further, d.Bytes, d.Reason = 1, 0, ""
		l.Damage = append(l.Damage, d)
	default:
		last := &l.Damage[n-1]
		last.Before, last.Unread, last.malformed = d.Before, last.Unread || d.Unread, last.malformed || d.malformed
		last.Further++
	}
}

// isPending reports whether no write after the last loss has been read yet.
func (l *Log) isPending() bool { n := len(l.Damage); return n > 0 && l.Damage[n-1].Before == 0 }

// follow records the sequence number of the next write. It bounds the loss from damage before it. The sequence
// numbers of a log are consecutive, so a gap means that writes are lost, wherever they were.
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
		l.addGap(sequence, offset)
	case l.last == 0 && l.isNext:
		l.addUnstored(l.gapBefore(sequence, offset))
	case l.numbers.end == 0 && l.last > 0 && sequence <= l.last: // an old log, or a copy of one, in place of another
		l.add(missing(offset, "it does not go on where the log before ends", l.last, sequence))
	}
	if l.last > 0 && sequence <= l.last {
		l.unsure = internalkey.MaxSequence
	}
	if l.endsUnsure = offset < l.numbers.unsure; l.endsUnsure {
		l.unsure = max(l.unsure, sequence)
	} else {
		l.sure = max(l.sure, sequence)
	}
	l.last = max(l.last, sequence)
}

// forgetUnsure makes the log continue from the last certain write of the log before. The first write of the log
// shows that the writes after that one were from a log in a value.
func (l *Log) forgetUnsure() {
	for i := range l.Damage {
		l.Damage[i].After = l.sure
	}
	l.last = l.sure
}

// checkEnd records missing writes at the end, after the log was read. If the writes found there by a search may be
// from a log in a value, the writes lost before them can have any number.
func (l *Log) checkEnd() {
	if n := len(l.Damage); n > 0 && l.endsUnsure && l.numbers.guessed == l.numbers.unsure {
		l.Damage[n-1].Before = 0
	}
	if after := max(l.After, l.last); after < l.UpTo && !l.isPending() {
		l.add(missing(l.Size-l.Tail, "writes that the MANIFEST counts are missing at the end", after, l.UpTo+1))
	}
}

// gapBefore returns the loss of the writes before a given one, where nothing is damaged. If that is the first write
// of its log, the log before has lost its end: a log that has lost its start begins with damage.
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

// missing returns the loss of writes that are missing at an offset.
func missing(offset int64, reason string, after, before uint64) LogDamage {
	return LogDamage{Damage: Damage{Offset: offset, Reason: reason}, After: after, Before: before}
}

// torn counts batches whose writing was interrupted, if the next batch has the same sequence number. Then the
// process was killed, and the database was reopened and continued this log, as C++ LevelDB does with reuse_logs. For
// the database, such a batch was never written.
type torn struct {
	Records int
	Bytes   int64

	begun    *Damage // a record that may be torn; the next one decides
	sequence uint64  // of the first write in begun
}

// endTorn decides whether the record that may be torn is torn. If it is not, it is damage.
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

// A Corruption is corruption outside a table, such as in a log or a set. It matches table.ErrCorrupt.
type Corruption string

func (c Corruption) Error() string { return string(c) }

// Is reports whether target is table.ErrCorrupt.
func (Corruption) Is(target error) bool { return target == table.ErrCorrupt }

// Corruptionf returns a Corruption with a message that is formatted as by fmt.Sprintf.
func Corruptionf(format string, args ...any) error { return Corruption(fmt.Sprintf(format, args...)) }
