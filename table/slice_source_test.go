package table_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// A faultySource hands out its bytes, but fails if broken is set.
type faultySource struct {
	table.Bytes
	broken atomic.Bool
}

func (s *faultySource) ReadAt(p []byte, off int64) (int, error) {
	if s.broken.Load() {
		return 0, errBroken
	}
	return s.Bytes.ReadAt(p, off)
}

func (s *faultySource) Slice(off int64, n int) ([]byte, error) {
	if s.broken.Load() {
		return nil, errBroken
	}
	return s.Bytes.Slice(off, n)
}

// openFaulty opens a table with the keys of numbered(100), of which the footer was read. Its source
// is broken from now on.
func openFaulty(t *testing.T) (*table.Reader, *faultySource) {
	t.Helper()
	contents := build(t, withBloom, numbered(100))
	src := &faultySource{Bytes: contents}
	r, err := table.NewReader(src, int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	src.broken.Store(true)
	return r, src
}

// If a table cannot be opened at its first use, all lookups and Iters return the error, until it can.
// None says that a key is absent.
func TestTableThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	r, src := openFaulty(t)
	key := []byte("key000050")
	for name, lookup := range map[string]func() error{
		"Get":        func() error { _, err := r.Get(key); return err },
		"AppendGet":  func() error { _, err := r.AppendGet(nil, key); return err },
		"Find":       func() error { _, _, err := r.Find(key); return err },
		"FindGE":     func() error { _, _, err := r.FindGE(key); return err },
		"Locate":     func() error { _, err := r.Locate(key); return err },
		"FirstKey":   func() error { _, err := r.FirstKey(); return err },
		"Properties": func() error { _, err := r.Properties(); return err },
		"Layout":     func() error { _, err := r.Layout(); return err },
		"Verify":     r.Verify,
		"FilterErr":  r.FilterErr,
		"GetMany": func() error {
			return r.GetMany(context.Background(), [][]byte{key}, nil, func(int, []byte) error { return nil })
		},
		"Iter": func() error {
			it := r.NewIter(&table.IterOptions{Lower: key})
			for _, ok := range []bool{it.First(), it.Last(), it.SeekGE(key), it.SeekLT(key), it.Next()} {
				if ok {
					return nil
				}
			}
			return it.Close()
		},
	} {
		if err := lookup(); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v, want %v", name, err, errBroken)
		}
	}
	if !r.MayContain([]byte("z")) {
		t.Error("MayContain denies a key of a table that it cannot read")
	}
	src.broken.Store(false)
	if _, err := r.Get(key); err != nil {
		t.Errorf("when the source works again: %v", err)
	}
}
