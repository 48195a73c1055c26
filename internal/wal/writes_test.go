package wal

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/internalkey"
)

// writes formats the writes that a record contains.
func writes(record string) (out []string) {
	for w, err := range Writes([]byte(record)) {
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		out = append(out, fmt.Sprintf("%d %d %q=%q", w.Sequence, w.Kind, w.UserKey, w.Value))
	}
	return out
}

func batch(sequence uint64, count uint32, writes string) string {
	b := binary.LittleEndian.AppendUint64(nil, sequence)
	return string(binary.LittleEndian.AppendUint32(b, count)) + writes
}

// Each write of a batch is read, up to what is damaged, which is an error.
func TestWrites(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, record string
		want         []string
	}{
		{"sound", batch(2, 3, "\x01\x03ada\x08lovelace\x00\x05grace\x01\x00\x00"), []string{`2 1 "ada"="lovelace"`, `3 0 "grace"=""`, `4 1 ""=""`}},
		{"short", "12345678901", []string{"batch of 11 bytes, shorter than its header of 12"}},
		{"empty", batch(1, 0, ""), nil},
		{"a kind that LevelDB does not have", batch(5, 2, "\x00\x01a\x02\x01b"), []string{`5 0 "a"=""`, "batch: write 1 is malformed"}},
		{"a key that is cut", batch(5, 1, "\x00\x02a"), []string{"batch: write 0 is malformed"}},
		{"no value", batch(5, 1, "\x01\x01a"), []string{"batch: write 0 is malformed"}},
		{"a length without end", batch(5, 1, "\x00"+strings.Repeat("\xff", 11)), []string{"batch: write 0 is malformed"}},
		{"too few", batch(5, 2, "\x00\x01a"), []string{`5 0 "a"=""`, "batch has 1 write, but its header says 2"}},
		{"too many", batch(5, 0, "\x00\x01a"), []string{`5 0 "a"=""`, "batch has 1 write, but its header says 0"}},
		{"the highest sequence number", batch(internalkey.MaxSequence, 2, "\x00\x01a\x00\x01b"), []string{
			`72057594037927935 0 "a"=""`, "batch: sequence number 72057594037927936 exceeds 72057594037927935"}},
		{"a sequence number that overflows", batch(1<<64-1, 1, "\x00\x01a"), []string{"batch: sequence number 18446744073709551615 exceeds 72057594037927935"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, writes(tt.record)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// Damage after a batch of several fragments makes the batch uncertain if sequence numbers are missing: it may be two
// joined batches.
func TestLossBehindABatchOfSeveralFragments(t *testing.T) {
	t.Parallel()
	for next, want := range map[uint64]uint64{2: 0, 4: 3} {
		first := batch(1, 1, aSet("k", strings.Repeat("v", 2*blockSize)))
		_, _, l := foundWrites(t, logOf(t, []byte(first), []byte("no batch at all"), []byte(batch(next, 1, aSet("l", "v")))))
		if got := l.HighestLost(); got != want || l.MayHaveLost(1) != (want > 0) || len(l.Damage) != 1 {
			t.Errorf("before write %d: highest lost %d, want %d; write 1 may be lost: %v: %v", next, got, want, l.MayHaveLost(1), l.Damage)
		}
	}
}
