package wal

import "slices"

// A Stored is a transaction of goleveldb in the MANIFEST. Its writes are in tables, and in no log.
type Stored struct {
	After  uint64 // the last sequence number in the MANIFEST before it; later logged writes can be between
	Lowest uint64 // the lowest sequence number in the bounds of its tables; that of its first write may be lower
	Last   uint64 // the sequence number of its last write
}

// addGap records the loss of the writes before a given one, except for those of transactions.
func (l *Log) addGap(sequence uint64, offset int64) {
	d := l.gapBefore(sequence, offset)
	if n := len(l.Stored); n == 0 || !d.InLogBefore || l.Stored[n-1].Last+1 != sequence {
		l.add(d)
		return
	}
	l.addUnstored(d)
}

// addUnstored records the loss of the missing writes that no transaction has.
func (l *Log) addUnstored(d LogDamage) {
	switch d.After, d.Before = l.unstored(d.Before); {
	case d.Before == 0:
	case l.tornBefore: // a log whose end was cut
		l.add(d)
	default:
		d.mayBeStored = true
		l.Doubtful = &d
	}
}

// unstored returns the range of missing writes before a given one that may be in no transaction: > after and < before,
// or 0, 0. goleveldb begins no transaction while the newest log has writes and the one before is live. So behind the
// last write read, all missing writes after the first one of a transaction are stored. If none was read, the log
// before can have been before any transaction. Of the first write of a transaction, only a bound is known.
func (l *Log) unstored(sequence uint64) (after, before uint64) {
	for _, s := range l.Stored {
		if s.Last <= l.last || s.Last >= sequence {
			continue
		}
		if last := max(l.last, s.After); s.Lowest > last+1 {
			if before == 0 {
				after = last
			}
			before = s.Lowest
		}
		if l.last > 0 {
			break
		}
	}
	return after, before
}

// Losses returns Damage and Doubtful.
func (l *Log) Losses() []LogDamage {
	if l.Doubtful == nil {
		return l.Damage
	}
	return append(slices.Clip(l.Damage), *l.Doubtful)
}
