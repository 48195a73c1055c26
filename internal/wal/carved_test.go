package wal

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// A log that is carved from any offset on contains the records that are whole.
func TestCarved(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	var sizes []int
	for range 20 {
		sizes = append(sizes, 1+random.IntN(blockSize/3)*random.IntN(5))
	}
	room := blockSize - len(logOf(t, recordsOf(sizes...)...))%blockSize
	all := recordsOf(append(sizes, room-FragmentHeaderLen-3, 100)...) // the block ends with 3 zeros
	log := logOf(t, all...)
	var starts []int // offsets of the records
	for n := range all {
		start := len(logOf(t, all[:n]...))
		if room := blockSize - start%blockSize; room < FragmentHeaderLen {
			start += room
		}
		starts = append(starts, start)
	}
	for cut := 0; cut < len(log); cut += 1 + random.IntN(3000) {
		want, _ := slices.BinarySearch(starts, cut) // the first record that is whole
		r, err := newCarvedReader(bytes.NewReader(log[cut:]), int64(len(log)-cut), func(Damage) {})
		noError(t, err)
		if got := readAll(t, r); !slices.EqualFunc(all[want:], got, bytes.Equal) {
			t.Fatalf("cut at %d: records %q, want %q", cut, short(got), short(all[want:]))
		}
	}
}

// Arbitrary bytes are read to their end. Bytes that are neither a record nor reported are a truncated end or zeros,
// and fewer than the input.
func FuzzReader(f *testing.F) {
	f.Add([]byte{})
	f.Add(logOf(f, []byte(batch(1, 2, "\x01\x01a\x01b\x00\x01c")), make([]byte, blockSize)))
	f.Add(slices.Concat(logOf(f, []byte("x")), make([]byte, blockSize)))
	f.Fuzz(func(t *testing.T, log []byte) {
		var skipped, kept int64
		r := NewReader(bytes.NewReader(log), func(d Damage) {
			if d.Offset < 0 || d.Offset+d.Bytes > int64(len(log)) {
				t.Errorf("%v, of a log of %d bytes", d, len(log))
			}
			skipped += d.Bytes
		})
		for {
			record, offset, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || offset+FragmentHeaderLen+int64(len(record)) > int64(len(log)) {
				t.Fatalf("record of %d bytes at %d, error %v, of a log of %d bytes", len(record), offset, err, len(log))
			}
			kept += int64(len(record)) + FragmentHeaderLen
			for w, err := range Writes(record) {
				if err == nil && len(w.UserKey)+len(w.Value) > len(record) {
					t.Fatalf("a write of %d and %d bytes in a record of %d", len(w.UserKey), len(w.Value), len(record))
				}
			}
		}
		if kept+skipped > int64(len(log)) {
			t.Errorf("%d bytes kept and %d skipped of %d", kept, skipped, len(log))
		}
	})
}
