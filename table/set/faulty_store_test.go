package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// objects contains the current version of each table.
type objects struct {
	mu  sync.Mutex
	now map[string]object
}

// An object is a version of a table.
type object struct {
	version  int
	contents []byte // nil if it is lost
	err      error  // of all reads
	latency  time.Duration
}

func newObjects(contents map[string][]byte) *objects {
	s := &objects{now: map[string]object{}}
	for name, c := range contents {
		s.replace(name, c)
	}
	return s
}

// replace adds a version of a table.
func (s *objects) replace(name string, contents []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now[name] = object{version: s.now[name].version + 1, contents: contents}
}

// A pinned Source, like an object store's, pins each table to the version that it read first.
type pinned struct {
	*objects
	versions map[string]int // of tables that were not forgotten
	rng      *rand.Rand     // of reads' latencies, guarded by mu; nil means none
}

func newPinned(s *objects) *pinned { return &pinned{objects: s, versions: map[string]int{}} }

// get returns the contents of a table, after some time.
func (s *pinned) get(ctx context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	o := s.now[name]
	if s.rng != nil {
		o.latency += time.Duration(s.rng.IntN(3)) * time.Millisecond
	}
	s.mu.Unlock()
	if o.latency > 0 {
		select {
		case <-time.After(o.latency):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	switch {
	case o.err != nil:
		return nil, o.err
	case o.contents == nil:
		return nil, fmt.Errorf("no object %q: %w", name, fs.ErrNotExist)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, there := s.versions[name]; there && first != o.version {
		return nil, fmt.Errorf("version %d of %q, and not %d: %w", o.version, name, first, set.ErrReplaced)
	}
	s.versions[name] = o.version
	return o.contents, nil
}

func (s *pinned) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	contents, err := s.get(ctx, name)
	if err != nil {
		return 0, err
	}
	return bytes.NewReader(contents).ReadAt(p, off)
}

func (s *pinned) Map(ctx context.Context, name string) (io.ReaderAt, int64, error) {
	contents, err := s.get(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	return table.Bytes(contents), int64(len(contents)), nil
}

func (s *pinned) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.versions, name)
}

// A faultyStore is a pinned Source whose tables get random faults, until end.
type faultyStore struct {
	*pinned
	sound  map[string][]byte
	others map[string][]byte // tables of the same keys and other values
	names  []string
}

var errStore = errors.New("the store fails")

// newFaultyStore returns a store with the tables of l.
func newFaultyStore(t *testing.T, l *layeredModel) *faultyStore {
	s := &faultyStore{pinned: newPinned(newObjects(l.src.files)), sound: l.src.files, others: map[string][]byte{}}
	s.rng = rand.New(rand.NewPCG(36, l.rng.Uint64()))
	for name, contents := range l.src.files {
		s.names = append(s.names, name)
		s.others[name] = withWrongValues(t, contents, l.o)
	}
	slices.Sort(s.names)
	return s
}

// intact returns an object with the table's own contents: the current one, or another one that replaces it.
func (s *faultyStore) intact(name string) object {
	return object{version: s.now[name].version + s.rng.IntN(2), contents: s.sound[name]}
}

// withWrongValues returns a table of the same keys, with other values of the same size.
func withWrongValues(t *testing.T, contents []byte, o *table.WriterOptions) []byte {
	t.Helper()
	r, err := table.NewReader(table.Bytes(contents), int64(len(contents)), nil)
	noError(t, err)
	var pairs [][2]string
	for e, err := range r.All(nil) {
		noError(t, err)
		pairs = append(pairs, [2]string{string(e.Key), strings.ToUpper(string(e.Value))})
	}
	var b bytes.Buffer
	write(t, &b, "", o, pairs)
	return b.Bytes()
}

// change starts or ends a fault of a table.
func (s *faultyStore) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.names[s.rng.IntN(len(s.names))]
	o := s.intact(name)
	switch s.rng.IntN(8) {
	case 0:
		o.contents = nil
	case 1:
		o.contents = o.contents[:s.rng.IntN(len(o.contents))]
	case 2:
		o.version, o.contents = s.now[name].version+1, s.others[name]
	case 3:
		o.err = errStore
	case 4:
		o.latency = time.Hour
	}
	s.now[name] = o
}

// end ends all faults. Some objects are then other versions.
func (s *faultyStore) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.names {
		s.now[name] = s.intact(name)
	}
}
