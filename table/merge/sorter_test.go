package merge

import (
	"bytes"
	"cmp"
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
	"testing/synctest"

	cmpdiff "github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/chunk"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/spool"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

var noError = errtest.NoError

// small are limits with which much is written to disk.
var small = limits{inline: 256, chunk: 20 << 10, chunks: 6, fanIn: 1024}

// A pair is a key and a value to sort.
type pair struct{ key, value []byte }

// randomPairs returns pairs with repeated keys, and values of all sizes.
func randomPairs(n int) []pair {
	rng := rand.New(rand.NewPCG(3, 3))
	all := make([]pair, n)
	for i := range all {
		all[i].key = fmt.Appendf(nil, "%0*d", 1+rng.IntN(8), rng.IntN(n))
		all[i].value = bytes.Repeat([]byte{byte(i)}, rng.IntN(small.inline)*rng.IntN(3))
	}
	return all
}

// sorted sorts pairs, and yields the pairs of All.
func sorted(ctx context.Context, pairs iter.Seq2[pair, error], o SorterOptions) iter.Seq2[*Sorted, error] {
	return func(yield func(*Sorted, error) bool) {
		s, err := NewSorter(ctx, &o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.Close() // the callers check that no file is left
		for p, err := range pairs {
			if err == nil {
				err = s.Append(p.key, p.value)
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		s.All()(yield)
	}
}

// each yields the pairs in reused memory.
func each(pairs []pair) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		var p pair
		for _, q := range pairs {
			p.key, p.value = append(p.key[:0], q.key...), append(p.value[:0], q.value...)
			if !yield(p, nil) {
				return
			}
		}
	}
}

// result is a Sorted with its value.
type result struct {
	Key, Value string
	Number     uint64
	Again      bool
}

func results(t *testing.T, all iter.Seq2[*Sorted, error]) (got []result) {
	t.Helper()
	for p, err := range all {
		noError(t, err)
		value, err := p.Value()
		noError(t, err)
		got = append(got, result{string(p.Key), string(value), p.Number, p.NextSameKey})
	}
	return got
}

// With any limits, the order is the same as a stable sort's in memory, and no file is left.
func TestSorter(t *testing.T) {
	t.Parallel()
	pairs := randomPairs(20_000)
	want := make([]result, len(pairs))
	for i, p := range pairs {
		want[i] = result{string(p.key), string(p.value), uint64(i), false}
	}
	slices.SortStableFunc(want, func(a, b result) int { return strings.Compare(a.Key, b.Key) })
	for i := range want[1:] {
		want[i].Again = want[i].Key == want[i+1].Key
	}
	for name, l := range map[string]limits{
		"one chunk":           {inline: 1 << 10, chunk: 1 << 30, chunks: 1, fanIn: 10},
		"chunks in memory":    {inline: 1 << 10, chunk: 1 << 20, chunks: 100, fanIn: 10},
		"one chunk at a time": {inline: 1 << 10, chunk: 1 << 20, chunks: 1, fanIn: 1000},
		"chunks":              {inline: 1 << 10, chunk: 100 << 10, chunks: 6, fanIn: 1000},
		"few at once":         {inline: 1 << 10, chunk: 100 << 10, chunks: 2, fanIn: 2},
		"chunks of one pair":  {inline: 1 << 10, chunk: 1, chunks: 6, fanIn: 100},
		"all in a file":       {inline: spool.PlaceLen + 1, chunk: 20 << 10, chunks: 6, fanIn: 7},
	} {
		t.Run(name, func(t *testing.T) {
			dir, pairs, want := t.TempDir(), pairs, want
			if l.chunk == 1 { // each is a run
				pairs, want = randomPairs(500), nil
			}
			got := results(t, sorted(t.Context(), each(pairs), SorterOptions{Dir: dir, limits: l}))
			if want == nil {
				want = results(t, sorted(t.Context(), each(pairs), SorterOptions{Dir: dir}))
			}
			if diff := cmpdiff.Diff(want, got); diff != "" {
				t.Errorf("pairs (-want +got):\n%.3000s", diff)
			}
			errtest.Empty(t, dir)
		})
	}
}

// An error of the input, an early end of the loop and an interrupt all end sorting, and leave no file.
func TestSorterEnds(t *testing.T) {
	t.Parallel()
	pairs := randomPairs(10_000)
	broken := errors.New("broken input")
	failing := func(yield func(pair, error) bool) {
		each(pairs)(yield)
		yield(pair{}, broken)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		pairs iter.Seq2[pair, error]
		stop  int // after that many pairs; 0: never
		want  error
	}{
		{"broken input", t.Context(), failing, 0, broken},
		{"interrupted", interrupted, each(pairs), 0, context.Canceled},
		{"stopped", t.Context(), each(pairs), 7, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			n, ended := 0, error(nil)
			for _, err := range sorted(tt.ctx, tt.pairs, SorterOptions{Dir: dir, limits: small}) {
				if n++; err != nil {
					ended = err
				}
				if n == tt.stop {
					break
				}
			}
			if !errors.Is(ended, tt.want) || tt.stop > 0 && n != tt.stop {
				t.Errorf("%d pairs, then %v; want %v", n, ended, tt.want)
			}
			errtest.Empty(t, dir)
		})
	}
}

// If Dir is missing, NewSorter returns an error, and does not create it. A file is no directory.
func TestSorterWithoutDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("TMPDIR", missing)
	t.Setenv("TMP", missing) // Windows
	for name, dir := range map[string]string{"given": missing, "the system's": ""} {
		if s, err := NewSorter(t.Context(), &SorterOptions{Dir: dir}); s != nil || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, %v, want the directory's error", name, s, err)
		}
		if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made", missing)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(file, nil, 0o666))
	if s, err := NewSorter(t.Context(), &SorterOptions{Dir: file}); s != nil || err == nil || err.Error() != "merge: temporary files: "+file+": not a directory" {
		t.Errorf("a file: %v, %v, want an error", s, err)
	}
}

// Long keys, which are cut in memory, are sorted correctly, in every order.
func TestSorterLongKeys(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for name, order := range map[string]table.Comparer{
		"bytewise": table.BytewiseComparer, "internal": table.InternalComparer(table.BytewiseComparer), "by length": byLength{table.BytewiseComparer},
	} {
		var pairs []pair
		for i := range 500 {
			key := bytes.Repeat([]byte("x"), small.inline-30+rng.IntN(35))
			key = append(key, bytes.Repeat([]byte{byte(rng.IntN(3))}, rng.IntN(3)*600)...)
			if name == "internal" {
				key = internalkey.Key{UserKey: key, Sequence: uint64(rng.IntN(3)), Kind: internalkey.Set}.Append(nil)
			}
			pairs = append(pairs, pair{key, bytes.Repeat([]byte{byte(i)}, rng.IntN(1000))})
		}
		got := results(t, sorted(t.Context(), each(pairs), SorterOptions{Comparer: order, Dir: t.TempDir(), limits: small}))
		slices.SortStableFunc(pairs, func(a, b pair) int { return order.Compare(a.key, b.key) })
		for i, p := range pairs {
			if got[i].Key != string(p.key) || got[i].Value != string(p.value) {
				t.Fatalf("%s: pair %d is another", name, i)
			}
		}
	}
}

// byLength is an order that is not bytewise.
type byLength struct{ table.Comparer }

func (byLength) Name() string { return "by length" }
func (byLength) Compare(a, b []byte) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
}

// A canceled context ends sorting at any point: in the input, while sorting, while merging runs to longer ones, and
// in the last merge. The error is the cause.
func TestSorterIsInterrupted(t *testing.T) {
	t.Parallel()
	pairs := randomPairs(20_000)
	narrow := small
	narrow.fanIn = 4
	cause := errors.New("interrupted")
	for after := int64(1); after < 1<<20; after *= 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := &canceling{Comparer: table.BytewiseComparer, cancel: func() { cancel(cause) }, after: after}
		dir := t.TempDir()
		n, ended := 0, error(nil)
		for _, err := range sorted(ctx, each(pairs), SorterOptions{Comparer: c, Dir: dir, limits: narrow}) {
			n, ended = n+1, err
		}
		if late := len(pairs) - n; ended != cause && late > 0 {
			t.Errorf("interrupted after %d comparisons: %d pairs, %v", after, n, ended)
		}
		errtest.Empty(t, dir)
		cancel(nil)
	}
}

// canceling cancels a context in the middle of the comparisons.
type canceling struct {
	table.Comparer
	compared atomic.Int64
	after    int64
	cancel   func()
}

func (c *canceling) Compare(a, b []byte) int {
	if c.compared.Add(1) == c.after {
		c.cancel()
	}
	return bytes.Compare(a, b)
}

// An unreadable temporary file is an error, even if only a comparison needs it.
func TestSorterCannotRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 2*small.inline)
	s, err := NewSorter(t.Context(), &SorterOptions{Dir: t.TempDir(), limits: small})
	noError(t, err)
	defer s.Close()
	for _, end := range []string{"b", "a"} {
		noError(t, s.Append([]byte(long+end), nil))
	}
	noError(t, s.large.Truncate(10))
	for p, err := range s.All() {
		if p != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("All = %v, %v, want the error of the file", p, err)
		}
	}
}

// Runs that were cut or changed on disk are an error.
func TestSorterReadsDamagedRuns(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(f *spool.File, size int64) error{
		"cut":     func(f *spool.File, size int64) error { return f.Truncate(size / 2) },
		"changed": func(f *spool.File, size int64) error { _, err := f.WriteAt([]byte("xyz"), size/3); return err },
	} {
		s, err := NewSorter(t.Context(), &SorterOptions{Dir: t.TempDir(), limits: small})
		noError(t, err)
		for p := range each(randomPairs(5000)) {
			noError(t, s.Append(p.key, p.value))
		}
		s.workers.Wait()
		info, err := s.file.Stat()
		noError(t, err)
		noError(t, damage(&s.file, info.Size()))
		n, failed := 0, error(nil)
		for _, err := range s.All() {
			n, failed = n+1, err
		}
		if failed == nil || n > 5000 {
			t.Errorf("%s: %d pairs, %v", name, n, failed)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Where the system allows it, the temporary files have no names while they are written.
func TestSorterFilesHaveNoNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file has to have a name")
	}
	dir := t.TempDir()
	n := 0
	for _, err := range sorted(t.Context(), each(randomPairs(10_000)), SorterOptions{Dir: dir, limits: small}) {
		noError(t, err)
		if n++; n%1000 == 1 {
			errtest.Empty(t, dir)
		}
	}
}

// After Close, no new file is created, since nothing would close it.
func TestSorterAppendAfterClose(t *testing.T) {
	t.Parallel()
	s, err := NewSorter(t.Context(), &SorterOptions{Dir: t.TempDir(), limits: small})
	noError(t, errors.Join(err, s.Close()))
	err = s.Append([]byte("key"), make([]byte, 1000))
	if !errors.Is(err, table.ErrClosed) || s.large.File.File != nil {
		t.Errorf("Append after Close = %v, file %v", err, s.large.File.File)
	}
}

// After Close, All returns ErrClosed, also if pairs were not yet in the file.
func TestSorterAllAfterClose(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1000} {
		s, err := NewSorter(t.Context(), &SorterOptions{Dir: t.TempDir(), limits: small})
		noError(t, err)
		noError(t, errors.Join(s.Append([]byte("key"), make([]byte, size)), s.Close()))
		for _, err := range s.All() {
			if !errors.Is(err, table.ErrClosed) {
				t.Errorf("value of %d bytes: All after Close = %v", size, err)
			}
		}
	}
}

// Pairs can be read once, whether or not to the end: a second loop and later pairs are errors, so no pair is lost
// silently.
func TestSorterIsReadOnce(t *testing.T) {
	t.Parallel()
	for _, stop := range []int{1, 5000, 10_000} {
		s, err := NewSorter(t.Context(), &SorterOptions{Dir: t.TempDir(), limits: small})
		noError(t, err)
		for _, p := range randomPairs(10_000) {
			noError(t, s.Append(p.key, p.value))
		}
		n := 0
		for _, err := range s.All() {
			noError(t, err)
			if n++; n == stop {
				break
			}
		}
		for p, err := range s.All() {
			if p != nil || !errors.Is(err, errRead) {
				t.Fatalf("read again after %d pairs: %v, %v", stop, p, err)
			}
		}
		if err := s.Append([]byte("late"), nil); !errors.Is(err, errRead) {
			t.Errorf("Append after %d pairs were read = %v", stop, err)
		}
		noError(t, s.Close())
		noError(t, s.Close()) // does nothing
	}
}

// In the loop, another loop is an error too, and a pair that is appended ends it.
func TestSorterIsReadOnly(t *testing.T) {
	t.Parallel()
	s, err := NewSorter(t.Context(), &SorterOptions{Dir: t.TempDir(), limits: small})
	noError(t, err)
	defer s.Close()
	for _, key := range []string{"a", "b", "c"} {
		noError(t, s.Append([]byte(key), nil))
	}
	var got []string
	for p, err := range s.All() {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, string(p.Key))
		for p, err := range s.All() {
			if p != nil || err != errRead {
				t.Errorf("All in a loop = %v, %v", p, err)
			}
		}
		if len(got) == 2 {
			if err := s.Append([]byte("bb"), nil); err != errRead {
				t.Errorf("Append in a loop = %v", err)
			}
		}
	}
	if want := []string{"a", "b", errRead.Error()}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// For any Memory, the chunks that can be in memory together take no more, with the blocks of the runs that are merged
// with them. More Memory makes chunks larger.
func TestSorterLimits(t *testing.T) {
	t.Parallel()
	last := 0
	for _, memory := range []int64{1, minMemory, 64 << 20, 256 << 20, 1 << 30, 4 << 30} {
		l := (&SorterOptions{Memory: memory}).withDefaults().limits
		got := int64(l.chunks)*int64(l.chunk) + int64(l.fanIn)*spool.ReaderMemory
		if got > max(memory, minMemory) || l.chunk < last {
			t.Errorf("%d bytes: %+v take %d", memory, l, got)
		}
		last = l.chunk
	}
}

// The number of chunks in memory never exceeds the limit, however slow sorting is.
func TestSorterChunksInMemory(t *testing.T) {
	t.Parallel()
	const perChunk = 4
	for _, chunks := range []int{1, 2, 6} {
		l := limits{inline: 256, chunk: perChunk * (200 + 1 + format.InternalTrailerLen + chunk.PairSize), chunks: chunks, fanIn: 1000}
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			release, done, n := make(chan bool), make(chan error, 1), 0
			s, err := NewSorter(t.Context(), &SorterOptions{Comparer: waiting{table.BytewiseComparer, release}, Dir: dir, limits: l})
			noError(t, err)
			defer s.Close()
			go func() {
				for ; n < 100 && err == nil; n++ {
					err = s.Append(make([]byte, 200), nil)
				}
				done <- err
			}()
			synctest.Wait()
			if n > l.chunks*perChunk {
				t.Errorf("%+v: %d pairs are in memory, want at most %d", l, n, l.chunks*perChunk)
			}
			close(release)
			if err := <-done; err != nil || n != 100 {
				t.Errorf("%+v: %d pairs, %v", l, n, err)
			}
		})
	}
}

// waiting waits before each comparison.
type waiting struct {
	table.Comparer
	release chan bool
}

func (w waiting) Compare(a, b []byte) int { <-w.release; return bytes.Compare(a, b) }

// A pair that is too large for a table is an error, and is not dropped silently.
func TestSorterRefusesHugePairs(t *testing.T) {
	t.Parallel()
	s, err := NewSorter(t.Context(), &SorterOptions{Dir: t.TempDir()})
	noError(t, err)
	defer s.Close()
	noError(t, s.Append([]byte("a"), nil))
	refused := s.Append([]byte("b"), make([]byte, maxPair))
	if refused == nil || !strings.Contains(refused.Error(), "pair 2 has 1073741825 bytes (maximum 1073741824)") {
		t.Errorf("Append = %v", refused)
	}
	if err := s.Append([]byte("c"), nil); err != refused {
		t.Errorf("errors %v and then %v, want the same", refused, err)
	}
	for p, err := range s.All() {
		if err == nil {
			t.Errorf("All has the pair %q", p.Key)
		}
	}
}
