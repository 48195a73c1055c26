package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

var (
	background = context.Background()
	noError    = errtest.NoError
	names      = errtest.Names
	checkDiff  = tabletest.Diff
	broken     = tabletest.ErrBroken

	// filtered are the options of most tables in these tests: small blocks, and filters.
	filtered = &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), BlockSize: 256, Properties: true}

	// eager are the options of a Set that opens its tables before the first lookup.
	eager = &set.Options{OpenAll: true}
)

// A store is a Source in memory. It counts reads.
type store struct {
	latency    time.Duration // of each read
	forgetting time.Duration // of each Forget
	before     hook          // of each read, or nil

	reads atomic.Int64

	mu        sync.Mutex
	files     map[string][]byte
	deleted   map[string]bool // names whose reads fail the test
	forgotten []string
	wrong     []string // unexpected events
	ranges    []string // the reads, if not nil
}

func newStore() *store { return &store{files: map[string][]byte{}, deleted: map[string]bool{}} }

func (s *store) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	s.reads.Add(1)
	if s.before != nil {
		if n, err, done := s.before(ctx, name, p, off); done {
			return n, err
		}
	}
	if s.latency > 0 {
		select {
		case <-time.After(s.latency):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	s.mu.Lock()
	contents, found := s.files[name]
	if s.deleted[name] {
		s.wrong = append(s.wrong, fmt.Sprintf("read of %s after it was deleted", name))
	}
	if s.ranges != nil {
		s.ranges = append(s.ranges, fmt.Sprintf("%s %d+%d", name, off, len(p)))
	}
	s.mu.Unlock()
	if !found {
		return 0, fmt.Errorf("no object %q", name)
	}
	return bytes.NewReader(contents).ReadAt(p, off)
}

// A mapper is a store that hands out the bytes of its tables.
type mapper struct{ *store }

func (s mapper) Map(_ context.Context, name string) (io.ReaderAt, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	contents := s.files[name]
	if contents == nil {
		return nil, 0, nil
	}
	return table.Bytes(contents), int64(len(contents)), nil
}

func (s *store) Forget(name string) {
	time.Sleep(s.forgetting)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = append(s.forgotten, name)
}

// delete makes each later read of the table fail the test.
func (s *store) delete(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, name)
	s.deleted[name] = true
}

// put writes a table and returns its line.
func (s *store) put(t testing.TB, name string, o *table.WriterOptions, pairs [][2]string) set.Table {
	t.Helper()
	var b bytes.Buffer
	line := write(t, &b, name, o, pairs)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = b.Bytes()
	delete(s.deleted, name)
	return line
}

// write writes a table and returns its line.
func write(t testing.TB, to io.Writer, name string, o *table.WriterOptions, pairs [][2]string) set.Table {
	t.Helper()
	w, err := set.NewTableWriter(to, o)
	noError(t, err)
	for _, p := range pairs {
		noError(t, w.Append([]byte(p[0]), []byte(p[1])))
	}
	line, err := w.Close()
	noError(t, err)
	line.Name = name
	return line
}

// key returns the key of number i. Between two of them, key(i)+"x" is absent.
func key(i int) string { return fmt.Sprintf("key%06d", i) }

// valueOf returns the value of key(i).
func valueOf(i int) string { return fmt.Sprintf("value of %d", i) }

// numbered returns the pairs of the numbers from first up to, but not including, end.
func numbered(first, end int) (pairs [][2]string) {
	for i := first; i < end; i++ {
		pairs = append(pairs, [2]string{key(i), valueOf(i)})
	}
	return pairs
}

// pairsFor returns the same pairs, without values if tables with the options o contain only a filter.
func pairsFor(o *table.WriterOptions, first, end int) [][2]string {
	pairs := numbered(first, end)
	if o != nil && o.FilterOnly {
		return withValue("", pairs)
	}
	return pairs
}

// withValue sets all values, and returns the pairs.
func withValue(value string, pairs [][2]string) [][2]string {
	for i := range pairs {
		pairs[i][1] = value
	}
	return pairs
}

// Each table of numberedSet has this many keys, in several blocks.
const perTable = 50

// numberedSet returns a store of n tables. Table i has the keys from i×perTable on.
func numberedSet(t testing.TB, n int, o *table.WriterOptions) (*store, *set.Manifest) {
	t.Helper()
	return setOf(t, n, perTable, o)
}

// setOf returns a store of n tables with that many keys each.
func setOf(t testing.TB, n, keys int, o *table.WriterOptions) (*store, *set.Manifest) {
	t.Helper()
	s, m := newStore(), new(set.Manifest)
	for i := range n {
		m.Tables = append(m.Tables, s.put(t, fmt.Sprintf("t%03d", i), o, pairsFor(o, i*keys, (i+1)*keys)))
	}
	return s, m
}

// open opens a set that is closed at the end of the test.
func open(t testing.TB, m *set.Manifest, src set.Source, o *set.Options) *set.Set {
	t.Helper()
	s, err := set.Open(background, m, src, o)
	noError(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, table.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

// checkEnd closes a Set, and checks that nothing stays in use.
func checkEnd(t testing.TB, s *set.Set) {
	t.Helper()
	if err := errors.Join(s.Close(), s.Drain(background)); err != nil || s.MemorySize() != 0 {
		t.Errorf("Close and Drain = %v; %d bytes of open tables, want 0", err, s.MemorySize())
	}
}

// checkError checks that err wraps the error, or is any error if that is nil, and that its text contains the text.
func checkError(t testing.TB, what string, err, kind error, want string) {
	t.Helper()
	if err == nil || kind != nil && !errors.Is(err, kind) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s = %v, want an error (%v) that says %q", what, err, kind, want)
	}
}

// checkGetFails checks that Get of key fails with that error.
func checkGetFails(t testing.TB, s *set.Set, key string, kind error) {
	t.Helper()
	if got, err := s.Get(background, []byte(key)); !errors.Is(err, kind) {
		t.Errorf("Get(%q) = %q, %v; want %v", key, got, err, kind)
	}
}

// checkReads checks the number of reads since the last check.
func checkReads(t testing.TB, src *store, want int64) {
	t.Helper()
	if got := src.reads.Swap(0); got != want {
		t.Errorf("%d reads, want %d", got, want)
	}
}

// checkTook checks in a synctest bubble that do takes that long, and returns that error, or nil.
func checkTook(t testing.TB, what string, want time.Duration, kind error, do func() error) {
	t.Helper()
	start := time.Now()
	err := do()
	if took := time.Since(start); took != want || !errors.Is(err, kind) {
		t.Errorf("%s = %v after %v, want %v after %v", what, err, took, kind, want)
	}
}

// within returns a context that ends after that time, or when the test ends.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(background, d)
	t.Cleanup(cancel)
	return ctx
}

// canceled returns a context that is done.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(background)
	cancel()
	return ctx
}

// manifestOf returns the manifest of some tables.
func manifestOf(tables ...set.Table) *set.Manifest { return &set.Manifest{Tables: tables} }

// meanwhile repeats do in n goroutines while during runs.
func meanwhile(n int, do func(rng *rand.Rand), during func()) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	for g := range n {
		rng := rand.New(rand.NewPCG(17, uint64(g)))
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				do(rng)
				runtime.Gosched() // there are more goroutines than cores
			}
		})
	}
	defer all.Wait() // even if during ends the test
	defer close(stop)
	during()
}

// checkGet checks that key has that value. "" means that it is absent.
func checkGet(t testing.TB, s *set.Set, key, want string) {
	t.Helper()
	got, err := s.Get(background, []byte(key))
	if want == "" {
		if !errors.Is(err, table.ErrNotFound) {
			t.Errorf("Get(%q) = %q, %v; want ErrNotFound", key, got, err)
		}
		return
	}
	if err != nil || string(got) != want {
		t.Errorf("Get(%q) = %q, %v; want %q", key, got, err, want)
	}
}

// getMany returns the values that GetMany finds, by key.
func getMany(ctx context.Context, s *set.Set, keys [][]byte, o *table.GetManyOptions) (map[string]string, error) {
	found := map[string]string{}
	err := s.GetMany(ctx, keys, o, func(i int, value []byte) error {
		found[string(keys[i])] = string(value)
		return nil
	})
	return found, err
}

// bytesOf returns keys in GetMany's type.
func bytesOf(keys ...string) (b [][]byte) {
	for _, k := range keys {
		b = append(b, []byte(k))
	}
	return b
}

// rounds returns the number of a test's rounds: more if long tests run, and a third with the race detector, which is
// slow.
func rounds(few, many int) int {
	if long.Race {
		few = 1 + few/3
	}
	return long.Rounds(few, many)
}

// entriesOf returns the entries of an Iter, past losses if onLoss is not nil.
func entriesOf(t testing.TB, s *set.Set, onLoss func(table.Loss) bool) map[string]string {
	t.Helper()
	it, got := s.NewIter(background, &table.IterOptions{OnLoss: onLoss}), map[string]string{}
	defer it.Close() // if the test ends here: Drain waits for it
	for e, err := range it.All() {
		noError(t, err)
		got[string(e.Key)] = string(e.Value)
	}
	noError(t, it.Close())
	return got
}

// A hook is called before a Source reads, and can replace the read.
type hook func(ctx context.Context, name string, p []byte, off int64) (n int, err error, done bool)

// doing returns a hook that calls f before each read.
func doing(do func()) hook {
	return func(context.Context, string, []byte, int64) (int, error, bool) {
		do()
		return 0, nil, false
	}
}

// failing returns a hook that makes all reads of some tables fail.
func failing(err error, tables ...string) hook {
	return func(_ context.Context, name string, _ []byte, _ int64) (int, error, bool) {
		return 0, err, slices.Contains(tables, name)
	}
}

// randomOptions returns random options of tables, some with filters.
func randomOptions(rng *rand.Rand) *table.WriterOptions {
	o := &table.WriterOptions{
		BlockSize: 1 << rng.IntN(13), RestartInterval: 1 + rng.IntN(20), Properties: rng.IntN(2) == 0, Concurrency: rng.IntN(3),
	}
	if rng.IntN(2) == 0 {
		o.Compression = table.NoCompression
	}
	if rng.IntN(3) > 0 {
		o.FilterPolicy = filter.NewBloom(1 + rng.IntN(12))
	}
	if rng.IntN(3) > 0 {
		o.TableFilterPolicy = filter.NewTableBloom(1 + rng.IntN(12))
	}
	if (o.FilterPolicy != nil || o.TableFilterPolicy != nil) && rng.IntN(3) == 0 {
		o.FilterPrefix = filter.PrefixOfLength(3)
	}
	return o
}
