package versions

import (
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/wal"
)

// Writes that edits count without naming another log are in the live logs. Edits that name another log may have
// moved writes to tables. The last named log and previous log count.
func TestLogged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		edits         []string
		after, upTo   uint64
		log, previous uint64
	}{
		{"one edit", []string{"\x02\x03\x03\x04\x04\x05"}, 5, 5, 3, 0},
		{"none is named", []string{complete}, 1, 1, 0, 0},
		{"a previous log", []string{complete, "\x02\x07\x09\x03"}, 1, 1, 7, 3},
		{"a later edit names others", []string{complete, "\x02\x08\x09\x03", "\x02\x04\x09\x00"}, 1, 1, 4, 0},
		{"C++ LevelDB: a new MANIFEST, and a compaction", []string{"\x01\x01c", "\x02\x03\x09\x00\x03\x04\x04\x05", "\x02\x03\x09\x00\x03\x06\x04\x09"}, 5, 9, 3, 0},
		{"C++ LevelDB: the memtable is flushed", []string{"\x02\x03\x03\x04\x04\x05", "\x02\x03\x03\x06\x04\x09", "\x02\x06\x03\x07\x04\x0b"}, 11, 11, 6, 0},
		{"goleveldb: a transaction", []string{"\x02\x03\x03\x04\x04\x05", "\x03\x06\x04\x09"}, 9, 9, 3, 0},
		{"goleveldb: a flush of writes before a transaction", []string{"\x02\x03\x03\x04\x04\x05", "\x03\x06\x04\x09", "\x02\x04\x04\x07"}, 9, 9, 4, 0},
		{"goleveldb: a compaction", []string{"\x02\x03\x03\x04\x04\x05", "\x03\x06"}, 5, 5, 3, 0},
	} {
		v, err := Read(writeEdits(t, tt.edits...))
		noError(t, err)
		if after, upTo := v.Logged(); after != tt.after || upTo != tt.upTo || v.log != tt.log || v.previousLog != tt.previous {
			t.Errorf("%s: Logged = %d, %d, logs %d and %d; want %d, %d, %d and %d",
				tt.name, after, upTo, v.log, v.previousLog, tt.after, tt.upTo, tt.log, tt.previous)
		}
	}
}

// goleveldb writes a lower last sequence number when it flushes writes from before a transaction. The tables of the
// transaction stay.
func TestLastSequenceStepsBack(t *testing.T) {
	t.Parallel()
	v, err := Read(writeEdits(t, "\x02\x03\x03\x04\x04\x05", "\x03\x06\x04\x09", "\x02\x04\x04\x07"))
	noError(t, err)
	if v.LastSequence != 9 || v.Named != 7 {
		t.Errorf("LastSequence = %d, Named = %d; want 9 and 7", v.LastSequence, v.Named)
	}
}

// A transaction of goleveldb is an edit with tables and a sequence number that names no log.
func TestStored(t *testing.T) {
	t.Parallel()
	add := func(numbers ...uint64) string {
		return string(listed(0, 5, keyOf("a", numbers[0]), keyOf("b", numbers[1])).Append(nil))
	}
	first, one, two := "\x02\x03\x03\x09\x04\x02", "\x04\x06"+add(5, 3), "\x04\x08"+add(7, 8)
	for name, tt := range map[string]struct {
		edits []string
		want  []wal.Stored
	}{
		"two transactions":            {[]string{first, one, two}, []wal.Stored{{After: 2, Lowest: 3, Last: 6}, {After: 6, Lowest: 7, Last: 8}}},
		"a compaction":                {[]string{first, add(1, 2)}, nil},
		"C++ LevelDB":                 {[]string{first, "\x02\x03" + one}, nil},
		"no table":                    {[]string{first, "\x04\x06"}, nil},
		"a log is written to a table": {[]string{first, one, "\x02\x04\x04\x02" + add(1, 2), two}, []wal.Stored{{After: 6, Lowest: 7, Last: 8}}},
		"numbers after its last one":  {[]string{first, "\x04\x02" + add(5, 3)}, nil},
	} {
		v, err := Read(writeEdits(t, tt.edits...))
		noError(t, err)
		if !slices.Equal(v.Stored, tt.want) {
			t.Errorf("%s: %v, want %v", name, v.Stored, tt.want)
		}
	}
}
