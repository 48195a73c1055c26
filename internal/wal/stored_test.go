package wal

import (
	"bytes"
	"testing"
)

// A transaction before a log, and one between it and the next log, have the numbers 1 to 3 and 6 to 8. However the log
// is cut, its missing writes count as lost.
func TestCutBetweenTransactions(t *testing.T) {
	t.Parallel()
	first := logOf(t, []byte(batch(4, 1, aSet("a", "a"))), []byte(batch(5, 1, aSet("b", "b"))))
	next := logOf(t, []byte(batch(9, 1, aSet("c", "c"))))
	for name, stored := range map[string][]Stored{
		"both first writes are bounds":  {{After: 0, Lowest: 1, Last: 3}, {After: 3, Lowest: 6, Last: 8}},
		"no first write is a bound":     {{After: 0, Lowest: 2, Last: 3}, {After: 3, Lowest: 8, Last: 8}},
		"the second one has no bound":   {{After: 0, Lowest: 1, Last: 3}, {After: 3, Lowest: 7, Last: 8}},
		"one transaction, two logs":     {{After: 3, Lowest: 6, Last: 8}},
		"two transactions after it":     {{After: 3, Lowest: 6, Last: 6}, {After: 6, Lowest: 8, Last: 8}},
		"a transaction after all":       {{After: 3, Lowest: 6, Last: 8}, {After: 8, Lowest: 12, Last: 12}},
		"a transaction before them all": {{After: 0, Lowest: 3, Last: 3}, {After: 3, Lowest: 6, Last: 8}},
	} {
		for cut := range len(first) + 1 {
			l, has := Log{Start: stored[len(stored)-1].Last + 1, Stored: stored}, map[uint64]bool{}
			for i, log := range [][]byte{first[:cut], next} {
				if i > 0 {
					l = l.Next()
				}
				for w, err := range l.Writes(bytes.NewReader(log), int64(len(log))) {
					noError(t, err)
					has[w.Sequence] = true
				}
			}
			for _, sequence := range []uint64{4, 5} {
				if !has[sequence] && !l.MayHaveLost(sequence) {
					t.Errorf("%s, cut at %d: %d is not lost: %v", name, cut, sequence, l.Losses())
				}
			}
		}
	}
}
