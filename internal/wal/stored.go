package wal

import (
	"fmt"
	"slices"
)

// A Stored is a transaction of goleveldb in the MANIFEST. Its writes are in tables, and in no log.
type Stored struct {
	After  uint64 // the last sequence number in the MANIFEST before it; later logged writes can be between
	Lowest uint64 // the lowest sequence number in the bounds of its tables; that of its first write may be lower
	Last   uint64 // the sequence number of its last write
}

const unlessStored = ", unless a transaction has them"

// addGap records the loss of the writes before a given one, except for those of transactions. goleveldb begins no
// transaction while the newest log has writes and the one before is live. So if a transaction ends where the newest
// log starts, all missing writes after its first one are stored. Of its first one, only a bound is known.
func (l *Log) addGap(sequence uint64, offset int64) {
	d := l.gapBefore(sequence, offset)
	lowest := sequence
	if n := len(l.Stored); n > 0 && d.InLogBefore && l.Stored[n-1].Last+1 == sequence {
		i := slices.IndexFunc(l.Stored, func(s Stored) bool { return s.Last > l.last })
		lowest = l.Stored[i].Lowest
	}
	switch d.Before = lowest; {
	case lowest == sequence || lowest > l.last+1 && l.tornBefore: // a log whose end was cut
		l.add(d)
	case lowest > l.last+1:
		d.Reason += unlessStored
		l.Doubtful = &d
	}
}

// addEmptied records the writes before the first one of all logs that may have been in the empty log before. Only
// writes between the last number that the MANIFEST had before a transaction and its first write can have been there.
func (l *Log) addEmptied(sequence uint64, offset int64) {
	d := l.gapBefore(sequence, offset)
	for _, s := range l.Stored {
		if s.Last < sequence && s.Lowest > s.After+1 {
			if l.Doubtful == nil {
				d.After, d.Reason = s.After, d.Reason+unlessStored
				l.Doubtful = &d
			}
			d.Before = s.Lowest
		}
	}
}

// Losses returns Damage and Doubtful.
func (l *Log) Losses() []LogDamage {
	if l.Doubtful == nil {
		return l.Damage
	}
	return append(slices.Clip(l.Damage), *l.Doubtful)
}

// doubtNote describes Doubtful, or returns "".
func (l *Log) doubtNote() string {
	if l.Doubtful == nil {
		return ""
	}
	return fmt.Sprintf("the writes between sequence numbers %d and %d are in no log: a transaction has them, or the log before was cut", l.Doubtful.After, l.Doubtful.Before)
}
