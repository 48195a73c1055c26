package sorting

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// randomPairs returns pairs with keys that come up again, and values of all sizes.
func randomPairs(n int) []input.Pair {
	rng := rand.New(rand.NewPCG(3, 3))
	all := make([]input.Pair, n)
	for i := range all {
		all[i].Key = fmt.Appendf(nil, "%0*d", 1+rng.IntN(8), rng.IntN(n))
		all[i].Value = bytes.Repeat([]byte{byte(i)}, rng.IntN(small.maxInline)*rng.IntN(3))
	}
	return all
}

// each yields the pairs from memory that is used again, as input does.
func each(pairs []input.Pair) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		var p input.Pair
		for _, q := range pairs {
			p.Key, p.Value = append(p.Key[:0], q.Key...), append(p.Value[:0], q.Value...)
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Whatever memory there is, the order is that of a stable sort in memory, and no file
// is left behind.
func TestSort(t *testing.T) {
	t.Parallel()
	pairs := randomPairs(20_000)
	want := make([]result, len(pairs))
	for i, p := range pairs {
		want[i] = result{string(p.Key), string(p.Value), uint64(i), false}
	}
	slices.SortStableFunc(want, func(a, b result) int { return strings.Compare(a.Key, b.Key) })
	for i := range want[1:] {
		want[i].Again = want[i].Key == want[i+1].Key
	}
	for name, l := range map[string]limits{
		"one chunk":                {maxInline: 1 << 10, chunkSize: 1 << 30, chunks: 1, workers: 1},
		"chunks in memory":         {maxInline: 1 << 10, chunkSize: 1 << 20, chunks: 100, workers: 2},
		"chunks":                   {maxInline: 1 << 10, chunkSize: 1 << 20, chunks: 1, workers: 1},
		"chunks of two workers":    {maxInline: 1 << 10, chunkSize: 100 << 10, chunks: 6, workers: 2},
		"more workers than chunks": {maxInline: 1 << 10, chunkSize: 100 << 10, chunks: 2, workers: 4},
		"chunks of one record":     {maxInline: 1 << 10, chunkSize: 1, chunks: 6, workers: 2},
		"all spilled":              {maxInline: spillRefLen, chunkSize: 20 << 10, chunks: 6, workers: 2},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			got := results(t, sortWithLimits(t.Context(), each(pairs), Options{Compare: bytes.Compare, Dir: dir}, l))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records (-want +got):\n%.3000s", diff)
			}
			checkEmpty(t, dir)
		})
	}
}

// result is a Record and its value.
type result struct {
	Key, Value string
	Number     uint64
	Again      bool
}

func results(t *testing.T, records iter.Seq2[Record, error]) []result {
	t.Helper()
	var all []result
	for r, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		value, err := r.Value()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, result{string(r.Key), string(value), r.Number, r.NextSameKey})
	}
	return all
}

func checkEmpty(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 0 {
		t.Errorf("%v, %v are left in the temporary directory", files, err)
	}
}

// An error of the input, one of the disk, an early end and an interrupt all end it,
// and leave no file behind.
func TestSortEnds(t *testing.T) {
	t.Parallel()
	pairs := randomPairs(10_000)
	broken := errors.New("broken input")
	failing := func(yield func(input.Pair, error) bool) {
		each(pairs)(yield)
		yield(input.Pair{}, broken)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		pairs iter.Seq2[input.Pair, error]
		stop  int // after how many records; 0: not
		want  error
	}{
		{"broken input", t.Context(), failing, 0, broken},
		{"interrupted", interrupted, each(pairs), 0, context.Canceled},
		{"stopped", t.Context(), each(pairs), 7, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			n, ended := 0, error(nil)
			for _, err := range sortWithLimits(tt.ctx, tt.pairs, Options{Compare: bytes.Compare, Dir: dir}, small) {
				if n++; err != nil {
					ended = err
				}
				if n == tt.stop {
					break
				}
			}
			if !errors.Is(ended, tt.want) || tt.stop > 0 && n != tt.stop {
				t.Errorf("%d records, then %v; want %v", n, ended, tt.want)
			}
			checkEmpty(t, dir)
		})
	}
}

// small are limits that have much put to disk.
var small = limits{maxInline: 256, chunkSize: 20 << 10, chunks: 6, workers: 2}

// A directory that is not there is an error, and is not made.
func TestSortWithoutDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("TMPDIR", missing)
	t.Setenv("TMP", missing) // Windows
	for name, dir := range map[string]string{"given": missing, "the system's": ""} {
		t.Run(name, func(t *testing.T) {
			n := 0
			for _, err := range sortWithLimits(t.Context(), each(randomPairs(1000)), Options{Compare: bytes.Compare, Dir: dir}, small) {
				if n++; !errors.Is(err, os.ErrNotExist) {
					t.Fatalf("sortWithin = %v, want the directory's error", err)
				}
			}
			if n != 1 {
				t.Errorf("%d records and errors, want one error", n)
			}
			if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s was made", missing)
			}
		})
	}
}

// Keys that are cut in memory are in their order all the same, with and without a
// trailer that is in another order.
func TestSortLongKeys(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	plain := Options{Compare: bytes.Compare}
	internal := Options{Compare: table.InternalComparer(table.BytewiseComparer).Compare, SuffixLen: 8}
	for name, o := range map[string]Options{"plain": plain, "internal": internal} {
		var pairs []input.Pair
		for i := range 500 {
			key := bytes.Repeat([]byte("x"), small.maxInline-30+rng.IntN(35))
			key = append(key, bytes.Repeat([]byte{byte(rng.IntN(3))}, rng.IntN(3)*600)...)
			if o.SuffixLen > 0 {
				key = table.InternalKey{UserKey: key, Sequence: uint64(rng.IntN(3)), Kind: table.KindSet}.Append(nil)
			}
			pairs = append(pairs, input.Pair{Key: key, Value: bytes.Repeat([]byte{byte(i)}, rng.IntN(1000))})
		}
		got := results(t, sortWithLimits(t.Context(), each(pairs), o, small))
		slices.SortStableFunc(pairs, func(a, b input.Pair) int { return o.Compare(a.Key, b.Key) })
		for i, p := range pairs {
			if got[i].Key != string(p.Key) || got[i].Value != string(p.Value) {
				t.Fatalf("%s: record %d is another", name, i)
			}
		}
	}
}

// An interrupt ends it wherever it is: in the input, in the sorting, in the merging, and
// in what comes out.
func TestSortIsInterrupted(t *testing.T) {
	t.Parallel()
	pairs := randomPairs(20_000)
	for after := int64(1); after < 1<<20; after *= 3 {
		ctx, cancel := context.WithCancel(t.Context())
		var compared atomic.Int64
		compare := func(a, b []byte) int {
			if compared.Add(1) == after {
				cancel()
			}
			return bytes.Compare(a, b)
		}
		dir := t.TempDir()
		n, ended := 0, error(nil)
		for _, err := range sortWithLimits(ctx, each(pairs), Options{Compare: compare, Dir: dir}, small) {
			n, ended = n+1, err
		}
		if late := len(pairs) - n; !errors.Is(ended, context.Canceled) && late > 0 {
			t.Errorf("interrupted after %d comparisons: %d records, %v", after, n, ended)
		}
		checkEmpty(t, dir)
		cancel()
	}
}

// A temporary file that cannot be read is an error of the sorting, also where only the
// order wants it.
func TestSortCannotRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 2*small.maxInline)
	pairs := []input.Pair{{Key: []byte(long + "b")}, {Key: []byte(long + "a")}}
	s := startSorter(t.Context(), Options{Compare: bytes.Compare, Dir: t.TempDir()}, small)
	defer s.close()
	truncated := func(yield func(input.Pair, error) bool) {
		each(pairs)(yield)
		if err := s.spill.file.Truncate(10); err != nil {
			t.Error(err)
		}
	}
	if err := s.addAll(truncated); !errors.Is(err, io.EOF) {
		t.Fatalf("addAll = %v, want the error of the file", err)
	}
	for r, err := range s.all() {
		if r != nil || !errors.Is(err, io.EOF) {
			t.Errorf("all = %v, %v, want the error of the file", r, err)
		}
	}
}

// A run that ends early is an error, wherever it ends within a record.
func TestRunEndsEarly(t *testing.T) {
	t.Parallel()
	whole := append([]byte{0x80, 1}, make([]byte, 128)...) // the length takes two bytes
	for n := range len(whole) + 1 {
		r, err := fromFile(bufio.NewReader(bytes.NewReader(whole[:n]))).next()
		atEnd := n == 0 || n == len(whole)
		if atEnd && err != nil || !atEnd && !errors.Is(err, io.ErrUnexpectedEOF) || (len(r) > 0) != (n == len(whole)) {
			t.Errorf("%d bytes: %d, %v", n, len(r), err)
		}
	}
}

// The files have no names while they are written, where the system allows that.
func TestTemporaryFilesHaveNoNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file has to have a name")
	}
	dir := t.TempDir()
	n := 0
	for _, err := range sortWithLimits(t.Context(), each(randomPairs(10_000)), Options{Compare: bytes.Compare, Dir: dir}, small) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%1000 == 1 {
			checkEmpty(t, dir)
		}
	}
}
