package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
)

var noError = errtest.NoError

// logOf returns a log of the records. The tests of sst check that goleveldb writes the same bytes.
func logOf(t testing.TB, records ...[]byte) []byte {
	t.Helper()
	var log bytes.Buffer
	w := NewWriter(&log)
	for _, r := range records {
		noError(t, w.Append(r))
	}
	return log.Bytes()
}

// recordsOf returns distinct records of these sizes.
func recordsOf(sizes ...int) [][]byte {
	var records [][]byte
	for i, size := range sizes {
		records = append(records, bytes.Repeat([]byte{byte('a' + i)}, size))
	}
	return records
}

// readAll returns the remaining records of r.
func readAll(t testing.TB, r *Reader) (records [][]byte) {
	t.Helper()
	for {
		record, _, err := r.Next()
		if err == io.EOF {
			return records
		}
		noError(t, err)
		records = append(records, bytes.Clone(record))
	}
}

// read returns the records of a log and the reported damage.
func read(t testing.TB, log []byte) (records [][]byte, damage []string) {
	t.Helper()
	records = readAll(t, NewReader(bytes.NewReader(log), func(d Damage) { damage = append(damage, d.Error()) }))
	return records, damage
}

// short abbreviates records, for readable failures.
func short(records [][]byte) (out []string) {
	for _, r := range records {
		text := string(r)
		if len(r) >= 20 {
			text = fmt.Sprintf("%s… %d", text[:1], len(r))
		}
		out = append(out, text)
	}
	return out
}

func TestReader(t *testing.T) {
	t.Parallel()
	log := logOf(t, recordsOf(5, 3*blockSize, 10, 20)...)
	zeroed := func(log []byte, from, to int) []byte {
		log = bytes.Clone(log)
		clear(log[from:to])
		return log
	}
	flipped := func(at int) []byte {
		log := bytes.Clone(log)
		log[at] ^= 0x40
		return log
	}
	whole := []string{"aaaaa", "b… 98304", "cccccccccc", "d… 20"}
	for _, tt := range []struct {
		name    string
		log     []byte
		records []string
		damage  []string
	}{
		{"nothing", nil, nil, nil},
		{"records of many blocks", log, whole, nil},

		{"a record cut short", log[:len(log)-1], whole[:3], nil},
		{"a header cut short", log[:len(log)-26], whole[:3], nil},
		{"a record without its last block", log[:2*blockSize], whole[:1], nil},
		{"zeros that were allocated", append(bytes.Clone(log), make([]byte, 100_000)...), whole, nil},
		{"zeros between blocks", slices.Concat(log[:2*blockSize], make([]byte, blockSize), log[2*blockSize:]), []string{"aaaaa", "cccccccccc", "d… 20"}, []string{
			"offset 12: record with a damaged fragment, 65510 bytes skipped",
			"offset 98304: record without its first fragment, 32768 bytes skipped",
			"offset 131072: record without its first fragment, 40 bytes skipped",
		}},
		{"zeros, and the next block goes on", slices.Concat(logOf(t, recordsOf(5)...), make([]byte, blockSize-12), logOf(t, []byte("next"))), []string{"aaaaa", "next"}, nil},
		{"zeros cut a record", slices.Concat(zeroed(log, 12+FragmentHeaderLen+100, blockSize)[:blockSize], logOf(t, []byte("next"))), []string{"aaaaa", "next"}, []string{
			"offset 12: checksum mismatch, 32756 bytes skipped",
		}},

		{"a damaged fragment", flipped(blockSize + 1000), []string{"aaaaa", "cccccccccc", "d… 20"}, []string{
			"offset 32768: checksum mismatch, 32768 bytes skipped",
			"offset 12: record with a damaged fragment, 32749 bytes skipped",
			"offset 65536: record without its first fragment, 32768 bytes skipped",
			"offset 98304: record without its first fragment, 40 bytes skipped",
		}},
		{"a damaged length", flipped(5), []string{"cccccccccc", "d… 20"}, []string{
			"offset 0: checksum mismatch, 32768 bytes skipped",
			"offset 32768: record without its first fragment, 32768 bytes skipped",
			"offset 65536: record without its first fragment, 32768 bytes skipped",
			"offset 98304: record without its first fragment, 40 bytes skipped",
		}},
		{"a kind that LevelDB does not have", slices.Concat(logOf(t, []byte("a")), fragmentOf(5, "b"), fragmentOf(kindFull, "c")), []string{"a", "c"}, []string{
			"offset 8: fragment of unknown kind 5, 8 bytes skipped",
		}},
		{"a kind that LevelDB does not have within a record", slices.Concat(fragmentOf(kindFirst, "a"), fragmentOf(5, "b"), fragmentOf(kindLast, "c")), nil, []string{
			"offset 8: fragment of unknown kind 5, 8 bytes skipped",
			"offset 0: record with a damaged fragment, 1 byte skipped",
			"offset 16: record without its first fragment, 8 bytes skipped",
		}},
		{"a record that another follows too early", slices.Concat(log[:blockSize], logOf(t, []byte("next"))), []string{"aaaaa", "next"}, []string{
			"offset 12: record without its last fragment, 32749 bytes skipped",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records, damage := read(t, tt.log)
			if diff := cmp.Diff(tt.records, short(records)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.damage, damage); diff != "" {
				t.Errorf("damage (-want +got):\n%s", diff)
			}
		})
	}
}

// fragmentOf returns a fragment with a valid checksum.
func fragmentOf(kind byte, payload string) []byte { return new(Writer).fragment(kind, []byte(payload)) }

// A record of the maximum size is returned. One more byte is an error, not damage: otherwise reading would continue
// as if nothing were lost.
func TestRecordsAreBounded(t *testing.T) {
	t.Parallel()
	const most = 3*blockSize + 17
	reader := func(size int) *Reader {
		r := NewReader(bytes.NewReader(logOf(t, recordsOf(3, size)...)), func(d Damage) { t.Error(d) })
		if r.maxRecord != 1<<30 {
			t.Errorf("records are bounded to %d bytes, want 1 GiB", r.maxRecord)
		}
		r.maxRecord = most
		if record, _, err := r.Next(); err != nil || len(record) != 3 {
			t.Fatalf("the first record has %d bytes, %v", len(record), err)
		}
		return r
	}
	if record, _, err := reader(most).Next(); err != nil || len(record) != most {
		t.Errorf("a record of %d bytes: %d bytes, %v", most, len(record), err)
	}
	want := fmt.Sprintf("offset 10: record exceeds %d bytes", most)
	if _, _, err := reader(most + 1).Next(); fmt.Sprint(err) != want {
		t.Errorf("a record of %d bytes: %v, want %s", most+1, err, want)
	}
}

// A read error is not the end of the log.
func TestReadError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(bytes.NewReader(logOf(t, recordsOf(blockSize)...)[:blockSize]), iotest.ErrReader(broken)), func(Damage) {})
	if _, _, err := r.Next(); err != broken {
		t.Errorf("Next = %v, want the file's error", err)
	}
}
