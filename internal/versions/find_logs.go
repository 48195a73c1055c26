package versions

import (
	"slices"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wal"
)

// FindLogs is like LiveLogs, for the database in dir, which contains the names. lost contains the missing logs,
// except for one that was empty: goleveldb removes an empty log when it begins the next one, and does not name the
// next one in the MANIFEST. An error means that a log in lost may have been empty, too.
func (v *Version) FindLogs(dir regular.Dir, names []string) (live []string, lost []uint64, err error) {
	live, lost = v.LiveLogs(names)
	wasEmpty := false
	if slices.Equal(lost, []uint64{v.log}) {
		wasEmpty, err = v.wasEmpty(dir, live, names)
	}
	if wasEmpty {
		lost = nil
	}
	return live, lost, err
}

// wasEmpty reports whether the missing log that the MANIFEST names had no writes. That is certain if the sequence
// numbers continue in the logs after it. If all of these are empty, it is certain if the engine is running, since it
// names a new log when it opens the database. Without an engine, it is assumed if there is exactly one and the MANIFEST
// knows all newer tables. Then a lost log counts as empty if the engine was killed after it began the next log and
// before it created a table of the writes. If there are other tables, their sequence numbers prove nothing: the log may
// have waited for the compaction that wrote them. Several empty logs prove nothing, since crashes leave them even after
// a log with writes. Between taking the lock and naming the log, a running engine may itself be about to miss a lost
// log, which counts as empty then. C++ LevelDB never removes a log that its MANIFEST names, and the last sequence
// number in its edits can belong to a write in the log.
func (v *Version) wasEmpty(dir regular.Dir, after, names []string) (bool, error) {
	if v.hasPrevious || len(after) == 0 || v.Torn > 0 || v.Unread > 0 || v.flushed < v.LastSequence {
		return false, nil
	}
	for _, log := range after {
		if isEmpty, ok, err := startsWith(dir, log, v.LastSequence+1); !ok {
			return false, err
		} else if !isEmpty {
			return v.isCurrent(dir)
		}
	}
	if isRunning := dir.FS() == nil && LockHolder(dir.Path("")) != 0; !isRunning {
		if lacks, err := v.LacksTables(dir, names); lacks || len(after) > 1 {
			return false, err
		}
	}
	return v.isCurrent(dir)
}

// startsWith reports whether the first write in a log has the given sequence number, with no damage before it, or
// the log is empty.
func startsWith(dir regular.Dir, log string, sequence uint64) (isEmpty, ok bool, err error) {
	f, info, err := dir.Open(log)
	if err != nil {
		return false, false, err
	}
	defer f.Close() // it was only read
	l := wal.Log{Start: sequence}
	for w, err := range l.Writes(f, info.Size()) {
		return false, err == nil && w.Sequence == sequence && len(l.Damage) == 0, err
	}
	return info.Size() == 0, info.Size() == 0, nil
}

// LacksTables reports whether there are tables among the names that are newer than the log, and that the MANIFEST
// neither lists nor marks obsolete. Then the MANIFEST may have lost edits at its end that moved writes of the log
// to these tables. After an error, this is assumed.
func (v *Version) LacksTables(dir regular.Dir, names []string) (bool, error) {
	h, err := readHistory(dir, v.Manifest)
	return err != nil || slices.ContainsFunc(names, func(name string) bool {
		n, err := FileNumber(name)
		return IsTableName(name) && err == nil && n > v.log && h.tables[n] == nil && !h.IsObsoleteTable(n)
	}), err
}

// isCurrent reports whether the MANIFEST still names the log. Before an engine removes a log with writes, it names
// the next one, and that may have happened since the MANIFEST was read.
func (v *Version) isCurrent(dir regular.Dir) (bool, error) {
	now, err := ReadDir(dir)
	return err == nil && now.Manifest == v.Manifest && now.log == v.log, err
}
