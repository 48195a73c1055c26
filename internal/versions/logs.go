package versions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// LogNumber returns the digits in the name of a log. ok is false if a file has another name.
func LogNumber(name string) (digits string, ok bool) {
	digits, ok = strings.CutSuffix(name, ".log")
	return digits, ok && isNumber(digits)
}

// LogName returns the name that engines give a log. They read none of another name.
func LogName(number uint64) string { return fmt.Sprintf("%06d.log", number) }

// LiveLogs returns which files of a directory are logs that may have writes that are in no table, the
// oldest first. missing has the numbers of those that the MANIFEST names and that are not there: engines
// create a log before they name it, so they are lost.
func (v *Version) LiveLogs(names []string) (live []string, missing []uint64) {
	there := map[uint64]bool{}
	var numbers []uint64
	for _, name := range names {
		digits, _ := LogNumber(name)
		n, err := strconv.ParseUint(digits, 10, 64)
		if err == nil && name == LogName(n) && v.isLive(n) {
			numbers, there[n] = append(numbers, n), true
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		live = append(live, LogName(n))
	}
	return live, slices.DeleteFunc(v.named(), func(n uint64) bool { return there[n] })
}

// Logged returns the sequence numbers of writes that are in live logs, as the MANIFEST shows: those > after
// and ≤ upTo. C++ LevelDB adds its last sequence number to each edit, and puts writes into tables only by
// edits that name another log. What was put into tables proves nothing, since a compaction drops
// deletions. goleveldb does not name its log in other edits.
func (v *Version) Logged() (after, upTo uint64) { return v.flushed, v.LastSequence }

// isLive reports whether the log with this number may have writes that are in no table.
func (v *Version) isLive(log uint64) bool { return log >= v.log || log == v.previousLog }

// named returns the numbers of the logs that must exist, as far as the MANIFEST says.
func (v *Version) named() []uint64 {
	return slices.DeleteFunc([]uint64{v.previousLog, v.log}, func(n uint64) bool { return n == 0 })
}
