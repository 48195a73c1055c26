package set

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

var noError = errtest.NoError

// A oneTable is a Source of a table.
type oneTable struct {
	contents []byte
	before   func() // called before each read, if not nil
}

func (s *oneTable) ReadAt(_ context.Context, _ string, p []byte, off int64) (int, error) {
	if s.before != nil {
		s.before()
	}
	return bytes.NewReader(s.contents).ReadAt(p, off)
}

// oneTableSet returns a Set of a table with some keys.
func oneTableSet(t *testing.T) (*Set, []byte) {
	var b bytes.Buffer
	w, err := NewTableWriter(&b, nil)
	noError(t, err)
	for i := range 100 {
		noError(t, w.Append(fmt.Appendf(nil, "%02d", i), nil))
	}
	line, err := w.Close()
	noError(t, err)
	line.Name = "t"
	s, err := Open(t.Context(), &Manifest{Tables: []Table{line}}, &oneTable{contents: b.Bytes()}, nil)
	noError(t, err)
	return s, []byte("17")
}

// A version ends once, after it was retired and its last use has ended, whichever goroutines begin and end the uses.
// Until then it keeps its tables.
func TestVersionEndsWithItsLastUse(t *testing.T) {
	t.Parallel()
	for range 300 {
		s, key := oneTableSet(t)
		v := s.current.Load()
		m := v.members[0]
		handed := make(chan use, 4) // for another goroutine to end
		var users, enders sync.WaitGroup
		for range 4 {
			users.Go(func() {
				for u, err := s.acquire(); err == nil; u, err = s.acquire() {
					if _, err := m.get(t.Context(), key); err != nil || v.ended.Load() {
						t.Errorf("in use: Get = %v, ended %t", err, v.ended.Load())
					}
					if rand.IntN(2) == 0 {
						handed <- u
					} else {
						u.release()
					}
				}
			})
			enders.Go(func() {
				for u := range handed {
					u.release()
				}
			})
		}
		noError(t, s.Close())
		users.Wait()
		close(handed)
		enders.Wait()
		if err := s.Drain(t.Context()); err != nil || !v.ended.Load() || s.MemorySize() != 0 || len(s.members) > 0 {
			t.Fatalf("Drain = %v; ended %t, %d bytes of Readers", err, v.ended.Load(), s.MemorySize())
		}
	}
}

// If a version is retired just after a lookup has loaded it, the lookup does not use it, since its tables may be
// closed.
func TestNoUseOfARetiredVersion(t *testing.T) {
	t.Parallel()
	s, _ := oneTableSet(t)
	old := s.current.Load()
	noError(t, s.Swap(t.Context(), &Manifest{}))
	if _, ok := old.use(); ok {
		t.Error("a retired version is used")
	}
	u, err := s.acquire()
	if err != nil || u.version == old {
		t.Errorf("acquire = %v, and the old version: %t", err, u.version == old)
	}
	u.release()
	noError(t, errors.Join(s.Close(), s.Drain(t.Context())))
}

// A closed Reader's MayContain may return true only because its filters are gone.
func TestClosedReadersAnswerDoesNotCount(t *testing.T) {
	t.Parallel()
	s, key := oneTableSet(t)
	_, err := s.Get(t.Context(), key)
	noError(t, err)
	if may, known := s.TryMayContain(key); !may || !known {
		t.Errorf("open: TryMayContain = %t, %t; want true, true", may, known)
	}
	s.current.Load().members[0].kept.Load().state.Store(closed)
	if may, known := s.TryMayContain(key); !may || known {
		t.Errorf("closed: TryMayContain = %t, %t; want true, false", may, known)
	}
	noError(t, errors.Join(s.Close(), s.Drain(t.Context())))
}

// If a Reader is evicted just after a lookup has loaded it, the lookup finds it closed, and uses another one.
func TestLookupThatFindsAClosedReader(t *testing.T) {
	t.Parallel()
	s, key := oneTableSet(t)
	m := s.current.Load().members[0]
	get := func() {
		t.Helper()
		_, err := s.Get(t.Context(), key)
		noError(t, err)
	}
	get()
	s.mu.Lock()
	evicted := s.unkeep(m)
	s.mu.Unlock()
	evicted.release()
	get()
	open, src := m.kept.Load(), s.src.(*oneTable)
	src.before = func() { // once
		m.kept.Store(open)
		src.before = nil
	}
	m.kept.Store(evicted) // for one lookup
	get()
	if err := errors.Join(s.Close(), s.Drain(t.Context())); err != nil || s.MemorySize() != 0 {
		t.Errorf("Close and Drain = %v; %d bytes of Readers", err, s.MemorySize())
	}
}
