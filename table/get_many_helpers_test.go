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
func getMany(r *table.Reader, keys [][]byte, o *table.GetManyOptions) ([][]byte, error) {
	values, _, err := getManyOrNot(r, keys, o)
	return values, err
}

// getManyOrNot returns also why there is no answer for a key, nil for others.
func getManyOrNot(r *table.Reader, keys [][]byte, o *table.GetManyOptions) (values [][]byte, noAnswers []error, err error) {
	var opts table.GetManyOptions
	if o != nil {
		opts = *o
	}
	values, noAnswers = make([][]byte, len(keys)), make([]error, len(keys))
	opts.NoAnswer = func(i int, err error) {
		if values[i] != nil || noAnswers[i] != nil || err == nil {
			panic(fmt.Sprintf("NoAnswer(%d, %v) after %q, %v", i, err, values[i], noAnswers[i]))
		}
		noAnswers[i] = err
	}
	err = r.GetMany(context.Background(), keys, &opts, func(i int, value []byte) error {
		if value == nil || values[i] != nil || noAnswers[i] != nil {
			return fmt.Errorf("found(%d, %q) after %q, %v", i, value, values[i], noAnswers[i])
		}
		values[i] = value
		return nil
	})
	return values, noAnswers, err
}

// checkGetMany compares GetMany with a loop of Get. Keys may only stay without an answer if Get
// fails for one that can be in the same data block, and NoAnswer tells which.
func checkGetMany(t *testing.T, name string, r *table.Reader, keys [][]byte, o *table.GetManyOptions) {
	t.Helper()
	values, noAnswers, err := getManyOrNot(r, keys, o)
	wants, damaged := make([][]byte, len(keys)), map[table.Handle]error{}
	for i, key := range keys {
		want, getErr := r.Get(key)
		if wants[i] = want; getErr == nil || errors.Is(getErr, table.ErrNotFound) {
			continue
		}
		h, _ := r.Locate(key)
		damaged[h] = getErr
		if noAnswers[i] == nil {
			t.Fatalf("%s: key %d, %.100q: GetMany has an answer, %.100q, and Get fails: %v", name, i, key, values[i], getErr)
		}
	}
	for i, got := range values {
		h, _ := r.Locate(keys[i])
		if noAnswers[i] != nil && damaged[h] != nil && errors.Is(err, noAnswers[i]) {
			continue
		}
		if (got == nil) != (wants[i] == nil) || noAnswers[i] != nil || !bytes.Equal(got, wants[i]) {
			t.Fatalf("%s: key %d, %.100q: GetMany finds %.100q (no answer: %v), Get %.100q", name, i, keys[i], got, noAnswers[i], wants[i])
		}
	}
	if (err == nil) != (len(damaged) == 0) || err != nil && !errors.Is(err, table.ErrCorrupt) && !errors.Is(err, table.ErrFilterOnly) {
		t.Fatalf("%s: GetMany = %v, but Get fails for %v", name, err, damaged)
	}
}

// checkReads checks that a source was read as GetMany promises: not more than one read for each
// of the keys' data blocks, no byte twice, and not too much at a time.
func checkReads(t *testing.T, name string, r *table.Reader, s *store, keys [][]byte, o *table.GetManyOptions) {
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
