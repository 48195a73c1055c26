package set

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// A oneTable is a Source of a table.
type oneTable []byte

func (s oneTable) ReadAt(_ context.Context, _ string, p []byte, off int64) (int, error) {
	return bytes.NewReader(s).ReadAt(p, off)
}

// oneTableSet returns a Set of a table with some keys.
func oneTableSet(t *testing.T) (*Set, []byte) {
	var b bytes.Buffer
	w, err := NewTableWriter(&b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := w.Append(fmt.Appendf(nil, "%02d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	line, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	line.Name = "t"
	s, err := Open(t.Context(), &Manifest{Tables: []Table{line}}, oneTable(b.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, []byte("17")
}

// While a lookup has a Reader, that is not closed, and when the last one has ended it is, however often
// the table is closed and whatever the lookups count in.
func TestLookupsKeepTheirReader(t *testing.T) {
	t.Parallel()
	s, key := oneTableSet(t)
	m := s.current.Load().members[0]
	var all sync.WaitGroup
	stop := make(chan bool)
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				l, ok := m.beginLookup()
				if !ok {
					continue
				}
				if _, err := l.reader.With(t.Context(), table.LookupOptions{}).Get(key); err != nil {
					t.Errorf("a Get of a lookup: %v", err)
				}
				l.end()
			}
		})
	}
	for i := range 3000 {
		if _, err := s.Get(t.Context(), key); err != nil {
			t.Error(err)
		}
		r := m.resident.Load()
		if i%2 == 0 {
			r.stripes.CompareAndSwap(nil, new([stripes]stripe))
		}
		if m.resident.CompareAndSwap(r, nil) {
			r.drop()
		}
	}
	close(stop)
	all.Wait()
	if s.residents.total() != 0 {
		t.Errorf("Readers take %d bytes, though all were closed", s.residents.total())
	}
	if err := errors.Join(s.Close(), s.Drain(t.Context())); err != nil {
		t.Error(err)
	}
}

// A lookup in a stripe keeps a Reader that is dropped, as one with a reference does, whichever ends
// first.
func TestStripesKeepADroppedReader(t *testing.T) {
	t.Parallel()
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		s, key := oneTableSet(t)
		if _, err := s.Get(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		m := s.current.Load().members[0]
		counted, _ := m.beginLookup()
		m.resident.Load().stripes.Store(new([stripes]stripe))
		striped, _ := m.beginLookup()
		if counted.stripe != nil || striped.stripe == nil {
			t.Fatal("the lookups are counted elsewhere than they should be")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, ok := m.beginLookup(); ok {
			t.Error("a lookup begins after Close")
		}
		for _, i := range order {
			l := [2]lookup{counted, striped}[i]
			l.endStripes() // as a lookup that came too late does
			if _, err := l.reader.With(t.Context(), table.LookupOptions{}).Get(key); err != nil {
				t.Errorf("Get of a lookup that is under way: %v", err)
			}
			l.end()
		}
		if err := s.Drain(t.Context()); err != nil || s.residents.total() != 0 {
			t.Errorf("Drain = %v; %d bytes of Readers", err, s.residents.total())
		}
	}
}
