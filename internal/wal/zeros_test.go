package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
)

// readLog returns the records of a log that may end in zeros, the number of bytes ignored at its end, and the
// reported damage.
func readLog(t *testing.T, log []byte) (records [][]byte, tail int64, damage []Damage) {
	t.Helper()
	r, err := NewLogReader(bytes.NewReader(log), int64(len(log)), func(d Damage) { damage = append(damage, d) })
	noError(t, err)
	records = readAll(t, r)
	return records, int64(len(log)) - r.Offset(), damage
}

// randomRecords returns records without zeros, their log, and the end of each.
func randomRecords(t *testing.T, random *rand.Rand) (all [][]byte, log []byte, ends []int) {
	t.Helper()
	for range 2 + random.IntN(8) {
		record := make([]byte, minTornZeros+random.IntN(1+random.IntN(2*blockSize)))
		for i := range record {
			record[i] = byte(1 + random.IntN(255))
		}
		all = append(all, record)
		ends = append(ends, len(logOf(t, all...)))
	}
	return all, logOf(t, all...), ends
}

// A log whose end is truncated, zeros, or both, contains the records before that, and no damage. The ignored tail
// starts at the first incomplete record. So does a truncated end if zeros do not count.
func TestEndThatWasNeverWritten(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 28))
	for range 300 {
		_, log, ends := randomRecords(t, random)
		at := random.IntN(len(log))
		torn := append(log[:at:at], make([]byte, random.IntN(2)*(minTornZeros+random.IntN(2*blockSize)))...)
		whole, _ := slices.BinarySearch(ends, at+1)
		records, tail, damage := readLog(t, torn)
		start := 0
		if whole > 0 {
			start = ends[whole-1]
		}
		if len(records) != whole || damage != nil || tail > int64(len(torn)-start) || tail < int64(len(torn)-start-FragmentHeaderLen) {
			t.Fatalf("%d bytes and zeros to %d: %d records, %d bytes passed over, %v; want %d, those from %d on, and nothing",
				at, len(torn), len(records), tail, damage, whole, start)
		}
		if records, damage := read(t, log[:at]); len(records) != whole || damage != nil {
			t.Fatalf("cut at %d: %d records and %q, want %d and nothing", at, len(records), damage, whole)
		}
	}
}

// Damage before the last record is reported, unless it is only in bytes that no record needs. That includes a length
// that reaches beyond the end or into zeros that follow, and zeros in place of headers.
func TestDamageBeforeTheEnd(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 28))
	for range 300 {
		all, log, ends := randomRecords(t, random)
		at := random.IntN(ends[len(ends)-2])
		to := min(at+1+random.IntN(1+random.IntN(500)), ends[len(ends)-2])
		if damaged := log[at:to]; random.IntN(2) == 0 {
			clear(damaged)
		} else {
			for i := range damaged {
				damaged[i] ^= byte(1 + random.IntN(255))
			}
		}
		padding := random.IntN(2) * random.IntN(2*blockSize) // preallocated, and never written
		log = append(log, make([]byte, padding)...)
		if records, tail, damage := readLog(t, log); len(records) < len(all) && (damage == nil || tail > int64(padding)) {
			t.Fatalf("damage from %d to %d of %d bytes: %d of %d records, %d bytes passed over, and %v",
				at, to, len(log), len(records), len(all), tail, damage)
		}
	}
}

// A record whose damaged length reaches into the zeros at the end was written completely if another follows it.
func TestLengthThatLeadsIntoZeros(t *testing.T) {
	t.Parallel()
	log := logOf(t, []byte("the first of three records"), []byte("the second of three records"), []byte("the third"))
	for at := 4; at <= 5; at++ {
		for flip := 1; flip < 256; flip++ {
			padded := append(slices.Clone(log), make([]byte, blockSize)...)
			padded[at] ^= byte(flip)
			if records, tail, damage := readLog(t, padded); damage == nil || tail > blockSize {
				t.Errorf("byte %d ^ %#x: %q, %d bytes passed over, and no damage", at, flip, records, tail)
			}
		}
	}
}

// A log of only zeros was preallocated and never written: it ends where it begins.
func TestLogOfZerosEndsAtItsStart(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, FragmentHeaderLen, blockSize, 3*blockSize + 1} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			log := make([]byte, size)
			r, err := NewLogReader(bytes.NewReader(log), int64(size), func(d Damage) { t.Error(d) })
			noError(t, err)
			if record, _, err := r.Next(); err != io.EOF || r.Offset() != 0 || !r.EndsInZeros() {
				t.Errorf("Next = %q, %v; Offset = %d, EndsInZeros = %t; want io.EOF at 0, and nothing but zeros", record, err, r.Offset(), r.EndsInZeros())
			}
		})
	}
}

// A file that was truncated after its size was read, or cannot be read, is an error, not the end of the log
// (io.EOF).
func TestLogThatIsShorterThanItsSizeIsAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		log  io.ReaderAt
		want error
	}{
		{"nothing is left", bytes.NewReader(nil), io.ErrUnexpectedEOF},
		{"all but a byte is left", bytes.NewReader(make([]byte, blockSize-1)), io.ErrUnexpectedEOF},
		{"what cannot be read", failingAt{broken}, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewLogReader(tt.log, blockSize, func(d Damage) { t.Error(d) }); !errors.Is(err, tt.want) || errors.Is(err, io.EOF) {
				t.Errorf("NewLogReader = %v, want %v", err, tt.want)
			}
		})
	}
}

type failingAt struct{ err error }

func (f failingAt) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// Neither a last record with a damaged length nor bytes that are no record count as never completely written.
func TestEndThatWasWritten(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 28))
	for range 20 {
		all, log, _ := randomRecords(t, random)
		start := len(log) - 1
		for validFragmentLen(log[start:]) != len(log)-start {
			start--
		}
		for bit := range 16 {
			damaged := slices.Clone(log)
			damaged[start+4+bit/8] ^= 1 << (bit % 8)
			if records, tail, damage := readLog(t, damaged); len(records) < len(all) && damage == nil {
				t.Errorf("bit %d of the length of the fragment at %d of %d: %d of %d records, %d bytes passed over, and no damage",
					bit, start, len(log), len(records), len(all), tail)
			}
		}
	}
	for _, end := range []string{"a text that took the place of a log, or of its end", string(bytes.Repeat([]byte{0xff}, 100))} {
		for _, log := range []string{end, string(logOf(t, []byte("a record"))) + end} {
			if _, tail, damage := readLog(t, []byte(log)); damage == nil {
				t.Errorf("%q: %d bytes passed over, and no damage", log, tail)
			}
		}
	}
}
