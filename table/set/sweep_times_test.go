package set_test

import (
	"testing"
	"time"

	"github.com/sievetable/sievetable/table/set"
)

// A file may be gone before its time is known, such as the lease of a build that has ended.
func TestSweepOfFileThatIsGone(t *testing.T) {
	t.Parallel()
	for _, gone := range []string{set.NewLease(), tableNumber(2).Name} {
		s := newChangingStore(t)
		s.namesAll = false
		s.files[gone] = memoryFile{nil, time.Now()}
		s.listed = func() { delete(s.files, gone) }
		noError(t, set.Sweep(t.Context(), s, sweepTables()))
		checkDiff(t, "tables", []int{1}, s.left())
	}
}

// If the time of a file cannot be found, nothing is removed, and the error names the file.
func TestSweepOfUnknownTimes(t *testing.T) {
	t.Parallel()
	lease, unlisted := set.NewLease(), tableNumber(2).Name
	for _, tt := range []struct {
		failAt  int // the number of a call of Stat
		name    string
		isLease bool
	}{{2, lease, true}, {4, unlisted, false}, {7, unlisted, false}} {
		s := newChangingStore(t)
		s.namesAll, s.failAt = false, tt.failAt
		delete(s.files, tableNumber(3).Name)
		if tt.isLease {
			s.files[lease] = memoryFile{nil, time.Now()}
		}
		checkError(t, "Sweep", set.Sweep(t.Context(), s, sweepTables()), errCall, "set: find the time of memory/"+tt.name)
		checkDiff(t, "tables", []int{1, 2}, s.left())
	}
}
