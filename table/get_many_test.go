package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// oneKeyBlocks has a data block for each key, and all blocks have the same length.
var oneKeyBlocks = &table.WriterOptions{BlockSize: 1, Compression: table.NoCompression}

// keysOf returns the keys of the pairs with these numbers.
func keysOf(pairs []workload.Pair, numbers ...int) [][]byte {
	var keys [][]byte
	for _, i := range numbers {
		keys = append(keys, pairs[i].Key)
	}
	return keys
}

// Neighboring blocks take one read, and a block for several keys is read once.
func TestGetManyJoinsReads(t *testing.T) {
	t.Parallel()
	small, large := numbered(20), numbered(20)
	for i := range large {
		large[i].Value = make([]byte, 300_000)
	}
	for _, tt := range []struct {
		name  string
		pairs []workload.Pair
		keys  []int
		gap   int
		reads int
	}{
		{"a key twice", small, []int{3, 3}, 0, 1},
		{"neighbors, in any order", small, []int{5, 3, 4}, 0, 1},
		{"a block between them", small, []int{3, 5, 7}, 0, 3},
		{"a gap as long as a block", small, []int{3, 5, 7}, 1 << 10, 1},
		{"a gap that is too small", small, []int{3, 5, 7}, 10, 3},
		{"no more than 1 MiB", large, []int{0, 1, 2, 3, 4, 5, 6}, 0, 3},
		{"no more than 1 MiB, whatever the gap", large, []int{0, 2, 4, 6}, 1 << 30, 2},
	} {
		r, s := openStore(t, build(t, oneKeyBlocks, tt.pairs), nil)
		keys, o := keysOf(tt.pairs, tt.keys...), &table.GetManyOptions{Gap: tt.gap}
		if _, err := getMany(r, keys, o); err != nil || len(s.reads) != tt.reads {
			t.Errorf("%s: %d reads, %v; want %d", tt.name, len(s.reads), err, tt.reads)
		}
		checkGetMany(t, tt.name, r, keys, o)
	}
}

// GetMany counts the same as a loop of Get, except for blocks that it reads only once.
func TestGetManyCounts(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	var keys [][]byte
	for _, p := range pairs {
		keys = append(keys, p.Key, append(bytes.Clone(p.Key), '~'))
	}
	for _, o := range []table.WriterOptions{
		{},
		{FilterPolicy: filter.NewBloom(4)},
		{TableFilterPolicy: filter.NewTableBloom(4)},
		{FilterPolicy: filter.NewBloom(4), TableFilterPolicy: filter.NewTableBloom(4)},
	} {
		contents := build(t, &o, pairs)
		var many, loop table.Metrics
		r := open(t, contents, &table.ReaderOptions{Metrics: &many, Cache: table.NewCache(1 << 20)})
		each := open(t, contents, &table.ReaderOptions{Metrics: &loop, Cache: table.NewCache(1 << 20)})
		for range 2 {
			noError(t, errorOf(getMany(r, keys, nil)))
			getAll(t, each, keys)
			if many.BlocksRead.Load() > loop.BlocksRead.Load() || many.BytesRead.Load() > loop.BytesRead.Load() {
				t.Errorf("GetMany: %v; Get: %v", &many, &loop)
			}
			checkDiff(t, "GetMany counts, not as Get", allCounts(&loop), allCounts(&many))
		}
	}
}

// allCounts returns the counts that agree for GetMany and Get: all except those of reads.
func allCounts(m *table.Metrics) string {
	return fmt.Sprintf("%s, %d blocks of the cache, %d evictions",
		filterCounts(m), m.CacheHits.Load()+m.CacheMisses.Load(), m.CacheEvictions.Load())
}

// Only keys of corrupt blocks fail. The error names each corrupt block.
func TestGetManyReportsEachDamagedBlock(t *testing.T) {
	t.Parallel()
	pairs := numbered(20)
	contents := build(t, oneKeyBlocks, pairs)
	r := open(t, contents, nil)
	var want, got []int64
	for _, key := range keysOf(pairs, 3, 4, 9) {
		h, err := r.Locate(key)
		noError(t, err)
		contents[h.Offset] ^= 1
		want = append(want, int64(h.Offset))
	}
	keys := keysOf(pairs, 2, 3, 3, 4, 5, 8, 9, 10)
	joined, _ := errorOf(getMany(r, keys, nil)).(interface{ Unwrap() []error })
	if joined == nil {
		t.Fatal("GetMany returns no joined errors")
	}
	for _, err := range joined.Unwrap() {
		got = append(got, err.(*table.CorruptionError).Offset)
	}
	slices.Sort(got)
	checkDiff(t, "damaged blocks", want, got)
	checkGetMany(t, "with damage", r, keys, nil)
}

// A block that is too long is not read.
func TestLongBlocksAreNotRead(t *testing.T) {
	t.Parallel()
	pairs := numbered(5)
	pairs[2].Value = make([]byte, 100_000)
	r, s := openStore(t, build(t, oneKeyBlocks, pairs), &table.ReaderOptions{MaxBlockSize: 10_000})
	values, err := getMany(r, keysOf(pairs, 1, 2, 3), nil)
	if !errors.Is(err, table.ErrCorrupt) || values[0] == nil || values[1] != nil || values[2] == nil {
		t.Errorf("GetMany = %.100q, %v; want all but the second", values, err)
	}
	checkError(t, "Get", errorOf(r.With(context.Background()).Get(pairs[2].Key)), table.ErrCorrupt, "")
	for _, read := range s.reads {
		if read[1]-read[0] > 10_000 {
			t.Errorf("a read of %d bytes", read[1]-read[0])
		}
	}
}

// If a read of several blocks fails, each block is read by itself, so that errors are only about unreadable blocks.
func TestGetManyAfterFailedReads(t *testing.T) {
	t.Parallel()
	pairs := numbered(20)
	bad := int64(-1) // the offset that cannot be read
	reads := 0
	var m table.Metrics
	r := openHooked(t, build(t, oneKeyBlocks, pairs), &table.ReaderOptions{Metrics: &m}, func(off, end int64) error {
		if reads++; off <= bad && bad < end {
			return errBroken
		}
		return nil
	})
	h, err := r.Locate(pairs[4].Key)
	noError(t, err)
	bad, reads = int64(h.Offset), 0
	one := &table.GetManyOptions{Concurrency: 1, Gap: 1 << 10}
	if values, err := getMany(r, keysOf(pairs, 2, 3, 5, 6), one); err != nil || reads != 5 || values[3] == nil {
		t.Errorf("around a block that cannot be read: %q, %v, %d reads; want all values by 5", values, err, reads)
	}
	_, err = getMany(r, keysOf(pairs, 2, 3, 4, 5), one)
	want := fmt.Sprintf("reading data block at %d: ", bad)
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), want) {
		t.Errorf("GetMany = %v, want %v with %q", err, errBroken, want)
	}
	if n := m.BlocksRead.Load(); n != 4+3 {
		t.Errorf("%d blocks counted, want 4, and 3 up to the bad one", n)
	}
}

// If no key can be looked up, GetMany returns the same error as Get.
func TestGetManyRefuses(t *testing.T) {
	t.Parallel()
	pairs := numbered(20)
	contents := build(t, nil, pairs)
	closed, sound := open(t, contents, nil), open(t, contents, nil)
	noError(t, closed.Close())
	for _, tt := range []struct {
		name string
		r    *table.Reader
		o    table.GetManyOptions
		want string
	}{
		{"closed", closed, table.GetManyOptions{}, table.ErrClosed.Error()},
		{"in an unknown order", open(t, contents, &table.ReaderOptions{Comparer: table.AnyOrder}), table.GetManyOptions{}, "AnyOrder does not find keys"},
		{"with a filter only", open(t, filterOnly(t, pairs), nil), table.GetManyOptions{}, table.ErrFilterOnly.Error()},
		{"Concurrency < 0", sound, table.GetManyOptions{Concurrency: -1}, "Concurrency is -1, not 0 to 1024"},
		{"Concurrency > 1024", sound, table.GetManyOptions{Concurrency: 1025}, "Concurrency is 1025, not 0 to 1024"},
		{"Gap < 0", sound, table.GetManyOptions{Gap: -1}, "Gap is -1 (minimum 0)"},
	} {
		if _, err := getMany(tt.r, keysOf(pairs, 1, 2), &tt.o); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: GetMany = %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

// An error of found ends GetMany, from the cache and from the source.
func TestGetManyEndsWithFound(t *testing.T) {
	t.Parallel()
	keys := keysOf(numbered(20), 1, 2, 3)
	r := open(t, build(t, oneKeyBlocks, numbered(20)), &table.ReaderOptions{Cache: table.NewCache(1 << 20)})
	for _, from := range []string{"source", "cache"} {
		calls := 0
		err := r.GetMany(t.Context(), keys, nil, func(int, []byte) error { calls++; return io.ErrClosedPipe })
		if err != io.ErrClosedPipe || calls != 1 {
			t.Errorf("%s: GetMany = %v after %d calls", from, err, calls)
		}
		noError(t, errorOf(getMany(r, keys, nil)))
	}
}

// getMany returns what GetMany finds, nil for keys that it does not.
func getMany(r *table.Reader, keys [][]byte, o *table.GetManyOptions) ([][]byte, error) {
	values, _, err := getManyOrNot(r, keys, o)
	return values, err
}

// getManyOrNot also returns the error of each failed lookup, and nil for other keys.
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

// checkGetMany compares GetMany with a loop of Get. A key may only fail if Get fails for a key in the same data
// block, and NoAnswer must report it.
func checkGetMany(t *testing.T, name string, r *table.Reader, keys [][]byte, o *table.GetManyOptions) {
	t.Helper()
	values, noAnswers, err := getManyOrNot(r, keys, o)
	wants, damaged := make([][]byte, len(keys)), map[layout.Handle]error{}
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

// checkReads checks GetMany's reads: at most one for each of the keys' data blocks, no byte twice, and not too many
// bytes at a time.
func checkReads(t *testing.T, name string, r *table.Reader, s *store, keys [][]byte, o *table.GetManyOptions) {
	t.Helper()
	blocks := map[layout.Handle]bool{}
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
		one := layout.Handle{Offset: uint64(read[0]), Length: uint64(read[1]-read[0]) - 5}
		if read[1]-read[0] > 1<<20 && !blocks[one] {
			t.Fatalf("%s: a read of %d bytes", name, read[1]-read[0])
		}
	}
}
