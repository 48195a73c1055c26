package versions

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Live are the logs from the one on that the MANIFEST names, and the one before it that it names too. Files
// of other names are no logs of engines.
func TestLiveLogs(t *testing.T) {
	t.Parallel()
	names := []string{"1000007.log", "000012.log", "000009.log", "000005.log", "000004.log", "12.log", "0000012.log", "000013.LOG", "x.log", ".log",
		"18446744073709551616.log", "000014.ldb", "CURRENT"}
	for _, tt := range []struct {
		name    string
		v       Version
		live    []string
		missing []uint64
	}{
		{"none is named", Version{}, []string{"000004.log", "000005.log", "000009.log", "000012.log", "1000007.log"}, nil},
		{"one is named", Version{log: 9}, []string{"000009.log", "000012.log", "1000007.log"}, nil},
		{"two are named", Version{log: 12, previousLog: 5}, []string{"000005.log", "000012.log", "1000007.log"}, nil},
		{"one is missing", Version{log: 10}, []string{"000012.log", "1000007.log"}, []uint64{10}},
		{"two are missing", Version{log: 13, previousLog: 6}, []string{"1000007.log"}, []uint64{6, 13}},
		{"one is missing that no engine numbers so", Version{log: 1<<64 - 1}, nil, []uint64{1<<64 - 1}},
	} {
		live, missing := tt.v.LiveLogs(names)
		if diff := cmp.Diff(tt.live, live); diff != "" {
			t.Errorf("%s: live (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.missing, missing, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: missing (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What edits count that name no other log is in the live logs. Others can have put writes into tables.
func TestLogged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		edits       []string
		after, upTo uint64
	}{
		{"one edit", []string{"\x02\x03\x03\x04\x04\x05"}, 5, 5},
		{"C++ LevelDB: a new MANIFEST, and a compaction", []string{"\x01\x01c", "\x02\x03\x09\x00\x03\x04\x04\x05", "\x02\x03\x09\x00\x03\x06\x04\x09"}, 5, 9},
		{"C++ LevelDB: the memtable is flushed", []string{"\x02\x03\x03\x04\x04\x05", "\x02\x03\x03\x06\x04\x09", "\x02\x06\x03\x07\x04\x0b"}, 11, 11},
		{"goleveldb: a transaction", []string{"\x02\x03\x03\x04\x04\x05", "\x03\x06\x04\x09"}, 9, 9},
		{"goleveldb: a compaction", []string{"\x02\x03\x03\x04\x04\x05", "\x03\x06"}, 5, 5},
	} {
		v, err := Read(writeEdits(t, tt.edits...))
		noError(t, err)
		if after, upTo := v.Logged(); after != tt.after || upTo != tt.upTo {
			t.Errorf("%s: Logged = %d, %d; want %d, %d", tt.name, after, upTo, tt.after, tt.upTo)
		}
	}
}
