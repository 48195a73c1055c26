package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// getMany returns what GetMany finds, nil for keys that it does not.
func getMany(r *table.Reader, keys [][]byte, o *table.BatchOptions) ([][]byte, error) {
	values := make([][]byte, len(keys))
	err := r.GetMany(context.Background(), keys, o, func(i int, value []byte) error {
		if value == nil || values[i] != nil {
			return fmt.Errorf("found(%d, %q) after %q", i, value, values[i])
		}
		values[i] = value
		return nil
	})
	return values, err
}

// checkGetMany compares GetMany with a loop of Get. Keys may only stay without an answer if Get
// fails for one that can be in the same data block.
func checkGetMany(t *testing.T, name string, r *table.Reader, keys [][]byte, o *table.BatchOptions) {
	t.Helper()
	values, err := getMany(r, keys, o)
	wants, damaged := make([][]byte, len(keys)), map[table.Handle]error{}
	for i, key := range keys {
		want, getErr := r.Get(key)
		if wants[i] = want; getErr == nil || errors.Is(getErr, table.ErrNotFound) {
			continue
		}
		h, _ := r.Locate(key)
		damaged[h] = getErr
	}
	for i, got := range values {
		h, _ := r.Locate(keys[i])
		if (got == nil) != (wants[i] == nil) && damaged[h] == nil || got != nil && !bytes.Equal(got, wants[i]) {
			t.Fatalf("%s: key %d, %.100q: GetMany finds %.100q, Get %.100q", name, i, keys[i], got, wants[i])
		}
	}
	if (err == nil) != (len(damaged) == 0) || err != nil && !errors.Is(err, table.ErrCorrupt) && !errors.Is(err, table.ErrFilterOnly) {
		t.Fatalf("%s: GetMany = %v, but Get fails for %v", name, err, damaged)
	}
}

// checkReads checks that a source was read as GetMany promises: not more than one read for each
// of the keys' data blocks, no byte twice, and not too much at a time.
func checkReads(t *testing.T, name string, r *table.Reader, s *store, keys [][]byte, o *table.BatchOptions) {
	t.Helper()
	blocks := map[table.Handle]bool{}
	for _, key := range keys {
		if h, err := r.Locate(key); err == nil {
			blocks[h] = true
		}
	}
	if len(s.reads) > len(blocks) || s.most > o.Concurrency {
		t.Fatalf("%s: %d reads of %d blocks, %d at a time; want at most one for each, and %d", name, len(s.reads), len(blocks), s.most, o.Concurrency)
	}
	slices.SortFunc(s.reads, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	for i, read := range s.reads {
		if i > 0 && read[0] < s.reads[i-1][1] {
			t.Fatalf("%s: reads of %d share bytes", name, s.reads[i-1:i+1])
		}
		one := table.Handle{Offset: uint64(read[0]), Length: uint64(read[1]-read[0]) - 5}
		if read[1]-read[0] > 1<<20 && !blocks[one] {
			t.Fatalf("%s: a read of %d bytes", name, read[1]-read[0])
		}
	}
}
