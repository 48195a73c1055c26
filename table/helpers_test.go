package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// Helpers that tests of other packages share.
var (
	build     = tabletest.Build
	buildBy   = tabletest.BuildBy
	open      = tabletest.Open
	pairsOf   = tabletest.PairsOf
	numbered  = tabletest.Numbered
	fewBytes  = tabletest.FewBytes
	checkDiff = tabletest.Diff
	diffPairs = tabletest.DiffPairs
	noError   = errtest.NoError
	panicOf   = errtest.PanicOf
	names     = errtest.Names
	errBroken = tabletest.ErrBroken
)

type (
	noOrder    = tabletest.Order
	readAtFunc = tabletest.ReadAtFunc
)

// dataset returns the pairs of the dataset of that name.
func dataset(t testing.TB, name string) []workload.Pair {
	t.Helper()
	pairs, err := workload.Dataset(name)
	noError(t, err)
	return pairs
}

// forward returns all pairs from First on by Next.
func forward(t testing.TB, it *table.Iter) []workload.Pair {
	t.Helper()
	return pairsFrom(t, it, it.First, it.Next)
}

// backward returns all pairs from Last on by Prev, in ascending order.
func backward(t testing.TB, it *table.Iter) []workload.Pair {
	t.Helper()
	got := pairsFrom(t, it, it.Last, it.Prev)
	slices.Reverse(got)
	return got
}

// pairsFrom returns all pairs from start on by next.
func pairsFrom(t testing.TB, it merge.Iterator, start, next func() bool) (got []workload.Pair) {
	t.Helper()
	for ok := start(); ok; ok = next() {
		got = append(got, workload.Pair{Key: bytes.Clone(it.Key()), Value: bytes.Clone(it.Value())})
	}
	noError(t, it.Error())
	return got
}

var partLengths = regexp.MustCompile(` \(\d+ bytes\): `)

// textOf returns the text of err without the lengths of blocks, which TestCorruptionErrorNamesItsPlace checks.
func textOf(err error) string { return partLengths.ReplaceAllString(fmt.Sprint(err), ": ") }

// around returns keys close to key: right below, right above, and one of which it is a prefix.
func around(key []byte) [][]byte {
	near := [][]byte{append(bytes.Clone(key), 0), append(bytes.Clone(key), "~"...)}
	if n := len(key); n > 0 {
		below, above := bytes.Clone(key), bytes.Clone(key)
		below[n-1]--
		above[n-1]++
		near = append(near, key[:n-1], below, above)
	}
	return near
}

// checkGet gets a key's value.
func checkGet(t testing.TB, r *table.Reader, key, want []byte) {
	t.Helper()
	if got, err := r.Get(key); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("Get(%.100q) = %d bytes, %.100q, %v; want %d bytes, %.100q", key, len(got), got, err, len(want), want)
	}
}

// checkLookups gets each pair, and absent keys around it.
func checkLookups(t *testing.T, r *table.Reader, pairs []workload.Pair) {
	t.Helper()
	present := map[string]bool{}
	for _, p := range pairs {
		present[string(p.Key)] = true
	}
	for _, p := range pairs {
		checkGet(t, r, p.Key, p.Value)
		for _, k := range around(p.Key) {
			if present[string(k)] {
				continue
			}
			if got, err := r.Get(k); !errors.Is(err, table.ErrNotFound) {
				t.Fatalf("Get(%q) = %q, %v; want ErrNotFound", k, got, err)
			}
		}
	}
}

// checkTable checks that the table is sound and has these pairs, in both directions and by lookups.
func checkTable(t *testing.T, r *table.Reader, pairs []workload.Pair) {
	t.Helper()
	checkIter(t, "the table", r.NewIter(nil), pairs)
	checkLookups(t, r, pairs)
	checkSound(t, "the table", r)
}

type countingReader struct {
	io.ReaderAt
	n, bytes atomic.Int64
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.n.Add(1)
	c.bytes.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, off)
}

func newWriter(t testing.TB, to io.Writer, o *table.WriterOptions) *table.Writer {
	t.Helper()
	w, err := table.NewWriter(to, o)
	noError(t, err)
	return w
}

// appendAll appends the pairs, and returns the first error.
func appendAll(w *table.Writer, pairs []workload.Pair) error {
	for _, p := range pairs {
		if err := w.Append(p.Key, p.Value); err != nil {
			return err
		}
	}
	return nil
}

// w1Pairs returns n of W1's entries.
func w1Pairs(n int) []workload.Pair { return workload.W1(n).Pairs() }

// goroutinesOf returns the stacks of all goroutines, and whether a function of that name is in one.
func goroutinesOf(function string) (stacks []byte, found bool) {
	stacks = make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return stacks, bytes.Contains(stacks, []byte(function))
}

// hang is how long a test waits for an event that should be immediate. It is far longer than any stall.
const hang = 5 * time.Minute

// checkError checks that an operation's error is of that kind, nil for any, and contains want.
func checkError(t testing.TB, operation string, err, kind error, want string) {
	t.Helper()
	if err == nil || kind != nil && !errors.Is(err, kind) || !strings.Contains(textOf(err), want) {
		t.Errorf("%s = %v, want an error (%v) that says %q", operation, err, kind, want)
	}
}

// checkSound checks that a table has no faults.
func checkSound(t testing.TB, name string, r *table.Reader) {
	t.Helper()
	if err := errors.Join(r.FilterErr(), r.Verify()); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func newReader(t testing.TB, src io.ReaderAt, size int, o *table.ReaderOptions) *table.Reader {
	t.Helper()
	r, err := table.NewReader(src, int64(size), o)
	noError(t, err)
	return r
}

// openFile opens a new file of contents, until the test ends.
func openFile(t testing.TB, contents []byte, o *table.ReaderOptions) *table.Reader {
	t.Helper()
	r, err := table.Open(writeTable(t, contents), o)
	noError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// A store is a remote source: each read takes a while, and a context interrupts it. It records the reads.
type store struct {
	contents []byte
	latency  time.Duration
	fast     int64 // reads before this offset take no time
	bad      int   // reads from this offset on fail with err, if it is > 0
	err      error

	mu            sync.Mutex
	reads         [][2]int64 // start and end of each
	running, most int        // reads at a time
}

func (s *store) ReadAt(p []byte, off int64) (int, error) {
	return s.ReadAtContext(context.Background(), p, off)
}

func (s *store) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	s.mu.Lock()
	s.reads = append(s.reads, [2]int64{off, off + int64(len(p))})
	s.running++
	s.most = max(s.most, s.running)
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.running--; s.mu.Unlock() }()
	latency := s.latency
	if off < s.fast {
		latency = 0
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(latency):
		if s.bad > 0 && off >= int64(s.bad) {
			return 0, s.err
		}
		return bytes.NewReader(s.contents).ReadAt(p, off)
	}
}

// openStore opens a table in a store, and forgets the reads for opening it.
func openStore(t testing.TB, contents []byte, o *table.ReaderOptions) (*table.Reader, *store) {
	t.Helper()
	s := &store{contents: contents}
	r, err := table.NewReader(s, int64(len(contents)), o)
	noError(t, err)
	s.reads, s.most = nil, 0
	return r, s
}

// mayContain returns r.MayContain, or true after an error.
func mayContain(r *table.Reader, key []byte) bool {
	may, err := r.MayContain(key)
	return may || err != nil
}

// hooked returns a source of contents whose reads first call before, and return its error.
func hooked(contents []byte, before func(off, end int64) error) readAtFunc {
	return func(p []byte, off int64) (int, error) {
		if err := before(off, off+int64(len(p))); err != nil {
			return 0, err
		}
		return bytes.NewReader(contents).ReadAt(p, off)
	}
}

// openHooked opens a table of a hooked source.
func openHooked(
	t testing.TB, contents []byte, o *table.ReaderOptions, before func(off, end int64) error,
) *table.Reader {
	t.Helper()
	return newReader(t, hooked(contents, before), len(contents), o)
}

// checkPairs reports differences between want and got.
func checkPairs(t testing.TB, name string, want, got []workload.Pair) {
	t.Helper()
	if diff := diffPairs(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%.2000s", name, diff)
	}
}

// checkIter checks an Iter's entries, in both directions.
func checkIter(t testing.TB, name string, it *table.Iter, want []workload.Pair) {
	t.Helper()
	checkPairs(t, name+", forward", want, forward(t, it))
	checkPairs(t, name+", backward", want, backward(t, it))
}

// lookups are the ways to get the value of a key. FindGE and SeekGE may get the value of a larger key.
var lookups = map[string]func(r *table.Reader, key []byte) ([]byte, error){
	"Get":       (*table.Reader).Get,
	"AppendGet": func(r *table.Reader, key []byte) ([]byte, error) { return r.AppendGet(nil, key) },
	"Find":      func(r *table.Reader, key []byte) ([]byte, error) { _, v, err := r.Find(key); return v, err },
	"AppendFind": func(r *table.Reader, key []byte) ([]byte, error) {
		_, v, err := r.AppendFind(nil, nil, key)
		return v, err
	},
	"FindGE":  func(r *table.Reader, key []byte) ([]byte, error) { _, v, err := r.FindGE(key); return v, err },
	"GetMany": func(r *table.Reader, key []byte) ([]byte, error) { return getByMany(r, key, nil) },
	"SeekGE":  func(r *table.Reader, key []byte) ([]byte, error) { return getByIter(r, key, nil) },
}

func getByMany(r *table.Reader, key []byte, o *table.GetManyOptions) ([]byte, error) {
	values, err := getMany(r, [][]byte{key}, o)
	if err == nil && values[0] == nil {
		err = table.ErrNotFound
	}
	return values[0], err
}

func getByIter(r *table.Reader, key []byte, o *table.IterOptions) ([]byte, error) {
	it := r.NewIter(o)
	defer it.Close() // after a panic
	if it.SeekGE(key) {
		return bytes.Clone(it.Value()), it.Close()
	}
	if err := it.Close(); err != nil {
		return nil, err
	}
	return nil, table.ErrNotFound
}

func allKeys(pairs []workload.Pair) (keys [][]byte) {
	for _, p := range pairs {
		keys = append(keys, p.Key)
	}
	return keys
}

// writeTable writes contents to a new file, t.ldb, and returns its name.
func writeTable(t testing.TB, contents []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "t.ldb")
	noError(t, os.WriteFile(name, contents, 0o600))
	return name
}
