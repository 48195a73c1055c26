package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

// These bytes follow LevelDB's doc/log_format.md: a record of one fragment, and a trailer of zeros where no header
// fits.
func TestWriterForm(t *testing.T) {
	t.Parallel()
	log := logOf(t, []byte("a"), make([]byte, blockSize-2*FragmentHeaderLen-1-5), []byte("b"))
	if got, want := fmt.Sprintf("%x", log[:8]), "b5cd0ba20100"+"01"+"61"; got != want {
		t.Errorf("the first record is %s, want %s", got, want)
	}
	if got, want := log[blockSize-5:], append(make([]byte, 5), log[blockSize:]...); !bytes.Equal(got, want) || len(log) != blockSize+FragmentHeaderLen+1 {
		t.Errorf("%d bytes, the last ones %x, want 5 zeros before the last record", len(log), got)
	}
}

// Append returns any write error.
func TestWriterFails(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk full")
	for after := range 4 {
		w := NewWriter(&fullDisk{after: after, err: cause})
		if err := errors.Join(w.Append(make([]byte, blockSize-FragmentHeaderLen-3)), w.Append(make([]byte, blockSize))); !errors.Is(err, cause) {
			t.Errorf("after %d writes: %v, want %v", after, err, cause)
		}
	}
}

// A fullDisk fails after some writes.
type fullDisk struct {
	after int
	err   error
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// Records of any sizes read back unchanged, wherever records and blocks end, and Offset is the end of each.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("some records"), uint32(3), uint32(40_000))
	f.Add([]byte{}, uint32(blockSize-FragmentHeaderLen), uint32(0))
	for left := range 20 { // bytes of the block after the first two records
		f.Add([]byte("data"), uint32(blockSize-2*FragmentHeaderLen-len("data")-left), uint32(3*blockSize+5))
	}
	f.Fuzz(func(t *testing.T, data []byte, first, second uint32) {
		records := [][]byte{data, make([]byte, first%100_000), data, make([]byte, second%100_000)}
		r := NewReader(bytes.NewReader(logOf(t, records...)), func(d Damage) { t.Fatal(d) })
		for n, want := range records {
			if got, _, err := r.Next(); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("a record of %d bytes, %v, want one of %d", len(got), err, len(want))
			}
			if got, want := r.Offset(), int64(len(logOf(t, records[:n+1]...))); got != want {
				t.Fatalf("after record %d: Offset = %d, want %d", n, got, want)
			}
		}
		if _, _, err := r.Next(); err != io.EOF {
			t.Fatal(err)
		}
	})
}
