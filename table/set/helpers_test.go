package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

var (
	background = context.Background()

	// filtered are the options of most tables here: small blocks, and filters.
	filtered = &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), BlockSize: 256, Properties: true}

	// eager are the options of a Set that opens its tables before the first lookup.
	eager = &set.Options{OpenAll: true}
)

// A store is a Source in memory. It counts reads.
type store struct {
	latency    time.Duration // of each read
	forgetting time.Duration // of each Forget
	before     func(ctx context.Context, name string, p []byte, off int64) (n int, err error, done bool)

	reads atomic.Int64

	mu        sync.Mutex
	files     map[string][]byte
	deleted   map[string]bool // files whose reads are errors of the test
	forgotten []string
	wrong     []string // what should not have happened
	ranges    []string // what was read, if not nil
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

// A mapper is a store that hands out its bytes, if it has any.
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

// delete makes each later read of the table an error of the test.
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
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if err := w.Append([]byte(p[0]), []byte(p[1])); err != nil {
			t.Fatal(err)
		}
	}
	line, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	line.Name = name
	return line
}

// key returns the key of number i. Between two of them, key(i)+"x" is absent.
func key(i int) string { return fmt.Sprintf("key%06d", i) }

// valueOf returns the value of key(i).
func valueOf(i int) string { return fmt.Sprintf("value of %d", i) }

// numbered returns the pairs of the numbers from first up to before end.
func numbered(first, end int) (pairs [][2]string) {
	for i := first; i < end; i++ {
		pairs = append(pairs, [2]string{key(i), valueOf(i)})
	}
	return pairs
}

// Each table of numberedSet has this many keys, in several blocks.
const perTable = 50

// numberedSet returns a store of n tables. Table i has the keys from i×perTable on.
func numberedSet(t testing.TB, n int, o *table.WriterOptions) (*store, *set.Manifest) {
	t.Helper()
	s, m := newStore(), new(set.Manifest)
	for i := range n {
		m.Tables = append(m.Tables, s.put(t, fmt.Sprintf("t%03d", i), o, numbered(i*perTable, (i+1)*perTable)))
	}
	return s, m
}

// open opens a set that is closed at the end of the test.
func open(t testing.TB, m *set.Manifest, src set.Source, o *set.Options) *set.Set {
	t.Helper()
	s, err := set.Open(background, m, src, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, table.ErrClosed) {
			t.Error(err)
		}
	})
	return s
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

// getMany returns what GetMany finds, by key.
func getMany(ctx context.Context, s *set.Set, keys [][]byte, o *table.GetManyOptions) (map[string]string, error) {
	found := map[string]string{}
	err := s.GetMany(ctx, keys, o, func(i int, value []byte) error {
		found[string(keys[i])] = string(value)
		return nil
	})
	return found, err
}

// bytesOf returns keys as GetMany takes them.
func bytesOf(keys ...string) (b [][]byte) {
	for _, k := range keys {
		b = append(b, []byte(k))
	}
	return b
}

// rounds returns how many rounds a test has: more if long tests run, and a third of them with the race
// detector, which is slow.
func rounds(few, many int) int {
	switch {
	case long.Enabled():
		return many
	case long.Race:
		return 1 + few/3
	}
	return few
}
