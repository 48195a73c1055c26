package wal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/internalkey"
)

// aSet returns a write that sets key to value, as stored in a batch.
func aSet(key, value string) string {
	b := append([]byte{1}, binary.AppendUvarint(nil, uint64(len(key)))...)
	b = binary.AppendUvarint(append(b, key...), uint64(len(value)))
	return string(b) + value
}

// foreignLog returns a log of n writes, each a batch, with sequence numbers from first on.
func foreignLog(t testing.TB, random *rand.Rand, first uint64, n int) string {
	t.Helper()
	var all [][]byte
	for i := range n {
		key := fmt.Sprintf("foreign%d", i)
		all = append(all, []byte(batch(first+uint64(i), 1, aSet(key, strings.Repeat("x", random.IntN(20))))))
	}
	return string(logOf(t, all...))
}

// A logWithLog is a log in which a value is a log.
type logWithLog struct {
	log         []byte
	next        uint64 // sequence number of the batch that follows
	last        uint64
	from, to    int    // the value's record in the log
	foreignNext uint64 // sequence number that would follow those of the stored log
}

// newLogWithLog returns a log in which before batches precede the value's batch, and after batches follow it. The
// sequence numbers of the stored log start with inner, and it has n writes.
func newLogWithLog(t testing.TB, random *rand.Rand, before, after int, inner uint64, n int, middle bool) logWithLog {
	t.Helper()
	var all [][]byte
	l := logWithLog{foreignNext: inner + uint64(n)}
	add := func(count uint32, writes string) {
		all = append(all, []byte(batch(l.last+1, count, writes)))
		l.last += uint64(count)
	}
	for range before {
		add(1, aSet("own", strings.Repeat("o", random.IntN(100))))
	}
	l.from = len(logOf(t, all...))
	value := aSet("own backup", foreignLog(t, random, inner, n))
	if middle {
		add(2, value+aSet("own second", "y"))
	} else {
		add(1, value)
	}
	l.to, l.next = len(logOf(t, all...)), l.last+1
	for range after {
		add(1, aSet("own", strings.Repeat("o", random.IntN(100))))
	}
	l.log = logOf(t, all...)
	return l
}

// foundWrites returns the sequence numbers of own and of foreign writes that are found.
func foundWrites(t testing.TB, log []byte) (own, foreign map[uint64]bool, l *Log) {
	t.Helper()
	l = &Log{}
	own, foreign = map[uint64]bool{}, map[uint64]bool{}
	for w, err := range l.Writes(bytes.NewReader(log), int64(len(log))) {
		noError(t, err)
		if bytes.HasPrefix(w.UserKey, []byte("own")) {
			own[w.Sequence] = true
		} else {
			foreign[w.Sequence] = true
		}
	}
	return own, foreign, l
}

// storedLogs are logs that are stored as a value.
var storedLogs = []struct {
	name          string
	before, after int // batches of the log that has the value
	inner         uint64
	n             int
	middle        bool
}{
	{"lower, last in its batch", 100, 20, 1, 50, false},
	{"lower, in the middle", 100, 20, 1, 50, true},
	{"lower, at the end", 100, 0, 1, 50, false},
	{"higher", 10, 20, 1000, 50, false},
	{"much higher, at the end", 10, 0, 1 << 40, 50, false},
	{"higher, at the end", 10, 0, 12, 50, false},
	{"overlapping", 10, 20, 1, 305, false},
	{"overlapping, in the middle", 10, 20, 1, 305, true},
	{"overlapping, at the end", 10, 0, 1, 305, false},
	{"fits, at the end", 10, 0, 12, 305, false},
	{"fits", 10, 20, 8, 4, false},
	{"across blocks", 10, 20, 1, 3000, false},
	{"across blocks, at the end", 10, 0, 1, 3000, false},
}

// If a bit of the header before a stored log is damaged, its writes are not mistaken for those of the log. The
// writes after the value are found.
func TestStoredLogBehindDamagedHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range storedLogs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLogWithLog(t, rand.New(rand.NewPCG(1, 2)), tt.before, tt.after, tt.inner, tt.n, tt.middle)
			for bit := range 8 * FragmentHeaderLen {
				log := bytes.Clone(l.log)
				log[l.from+bit/8] ^= 1 << (bit % 8)
				checkStored(t, fmt.Sprintf("bit %d", bit), l, log, false)
			}
		})
	}
}

// checkStored checks the writes found in a damaged log. Foreign writes may be found only if mayFind is set, and must
// then be uncertain. Own writes that are not found must be reported as lost.
func checkStored(t *testing.T, name string, l logWithLog, log []byte, mayFind bool) {
	t.Helper()
	own, foreign, read := foundWrites(t, log)
	for s := range foreign {
		if !mayFind || s > read.HighestLost() {
			t.Fatalf("%s: %d foreign writes are found, such as %d; lost ≤ %d: %v", name, len(foreign), s, read.HighestLost(), read.Damage)
		}
	}
	if len(foreign) > 0 {
		return
	}
	for s := l.next; s <= l.last; s++ {
		if !own[s] {
			t.Fatalf("%s: write %d is not found; %d to %d follow the value: %v", name, s, l.next, l.last, read.Damage)
		}
	}
	for s := uint64(1); s <= read.Last(); s++ {
		if !own[s] && !read.MayHaveLost(s) {
			t.Fatalf("%s: write %d is not found, and not lost: %v", name, s, read.Damage)
		}
	}
}

// If a sector at the start of the value's record is overwritten with zeros, or random bytes of it change, no foreign
// write is certain. If other writes follow the value in the block, none is found, unless the numbers fit.
func TestStoredLogBehindDamage(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 7))
		before, after, inner := random.IntN(300), random.IntN(30), 1+uint64(random.IntN(400))
		l := newLogWithLog(t, random, before, after, inner, 1+random.IntN(700)*random.IntN(3), random.IntN(2) == 0)
		fits := l.foreignNext == l.next
		log := l.damaged(random)
		if fits {
			l.next = l.last + 1 // the writes after the value are mistaken for the end of the stored log
		}
		checkStored(t, fmt.Sprintf("seed %d", seed), l, log, after == 0 || fits)
	}
}

// damaged returns the log with zeros over a sector, or random bytes, at the start of the value's record. If they can
// hide the writes after it, l expects none of these.
func (l *logWithLog) damaged(random *rand.Rand) []byte {
	log := bytes.Clone(l.log)
	if random.IntN(2) == 0 {
		at := (l.from + random.IntN(20)) / 512 * 512
		if clear(log[at:min(at+512, len(log))]); at+512 > l.to {
			l.next = l.last + 1
		}
		return log
	}
	for range 1 + random.IntN(4) {
		log[min(l.from+random.IntN(FragmentHeaderLen+20), len(log)-1)] = byte(random.Uint32())
	}
	if !bytes.Equal(log[l.from+4:l.from+6], l.log[l.from+4:l.from+6]) {
		l.next = l.last + 1 // the damaged length can lead to any of the batches
	}
	return log
}

// Sequence numbers that step back do not prove that nothing is lost, neither directly after damage nor elsewhere.
func TestStepBackIsUncertain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		numbers []uint64
		damaged int
		want    uint64
	}{
		{"one is lost", []uint64{5, 6, 7}, 1, 6},
		{"back over damage", []uint64{5, 9, 5}, 1, internalkey.MaxSequence},
		{"back elsewhere", []uint64{5, 6, 7, 5}, 1, internalkey.MaxSequence},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := &Log{}
			for i, sequence := range tt.numbers {
				if i == tt.damaged {
					l.report(Damage{Offset: int64(i), Bytes: 1, Reason: "damaged"})
					continue
				}
				l.follow(sequence, int64(i))
			}
			if got := l.HighestLost(); got != tt.want || strings.Contains(fmt.Sprint(l.Damage), "no writes are lost") {
				t.Errorf("highest lost %d, want %d: %v", got, tt.want, l.Damage)
			}
		})
	}
}

// Arbitrary bytes are read to their end.
func FuzzLogFindMore(f *testing.F) {
	f.Add(newLogWithLog(f, rand.New(rand.NewPCG(1, 2)), 3, 3, 1, 5, false).log)
	f.Fuzz(func(t *testing.T, log []byte) { foundWrites(t, log) })
}
