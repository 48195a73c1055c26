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

// A faultyStore is a Source that, like an object store's, pins each table to the version that it read first. Until
// end, its tables get random faults.
type faultyStore struct {
	sound  map[string][]byte
	others map[string][]byte // tables of the same keys and other values
	names  []string

	mu     sync.Mutex
	rng    *rand.Rand
	now    map[string]object
	pinned map[string]int // versions of tables that were not forgotten
}

// An object is the store's current version of a table.
type object struct {
	version  int
	contents []byte // nil if it is lost
	err      error  // of all reads
	stalls   bool   // reads wait until their context is done
}

var errStore = errors.New("the store fails")

// newFaultyStore returns a store with the tables of l.
func newFaultyStore(t *testing.T, l *layeredModel) *faultyStore {
	s := &faultyStore{
		sound: l.src.files, others: map[string][]byte{}, rng: rand.New(rand.NewPCG(36, l.rng.Uint64())),
		now: map[string]object{}, pinned: map[string]int{},
	}
	for name, contents := range l.src.files {
		s.names = append(s.names, name)
		s.now[name] = object{contents: contents}
		s.others[name] = withWrongValues(t, contents, l.o)
	}
	slices.Sort(s.names)
	return s
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
	sound := s.sound[name]
	o := object{version: s.now[name].version, contents: sound}
	if s.rng.IntN(2) == 0 { // another object replaces it, perhaps with the same contents
		o.version++
	}
	switch s.rng.IntN(8) {
	case 0:
		o.contents = nil
	case 1:
		o.contents = sound[:s.rng.IntN(len(sound))]
	case 2:
		o.version, o.contents = s.now[name].version+1, s.others[name]
	case 3:
		o.err = errStore
	case 4:
		o.stalls = true
	}
	s.now[name] = o
}

// end ends all faults. Some objects are then other versions.
func (s *faultyStore) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.names {
		s.now[name] = object{version: s.now[name].version + s.rng.IntN(2), contents: s.sound[name]}
	}
}

// get returns the object of a table, after some time. The caller must not modify it.
func (s *faultyStore) get(ctx context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	o := s.now[name]
	latency := time.Duration(s.rng.IntN(3)) * time.Millisecond
	s.mu.Unlock()
	if o.stalls {
		latency = time.Hour
	}
	select {
	case <-time.After(latency):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case o.err != nil:
		return nil, o.err
	case o.contents == nil:
		return nil, fmt.Errorf("no object %q: %w", name, fs.ErrNotExist)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if pinned, there := s.pinned[name]; there && pinned != o.version {
		return nil, fmt.Errorf("version %d of %q, and not %d: %w", o.version, name, pinned, set.ErrReplaced)
	}
	s.pinned[name] = o.version
	return o.contents, nil
}

func (s *faultyStore) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	contents, err := s.get(ctx, name)
	if err != nil {
		return 0, err
	}
	return bytes.NewReader(contents).ReadAt(p, off)
}

func (s *faultyStore) Map(ctx context.Context, name string) (io.ReaderAt, int64, error) {
	contents, err := s.get(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	return table.Bytes(contents), int64(len(contents)), nil
}

func (s *faultyStore) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pinned, name)
}
