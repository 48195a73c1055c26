package set_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// failing makes all reads of a table fail.
func failing(table string, err error) func(context.Context, string, []byte, int64) (int, error, bool) {
	return func(_ context.Context, name string, _ []byte, _ int64) (int, error, bool) {
		return 0, err, name == table
	}
}

// A Source that breaks its contract is an error or a panic of the lookup, never a wrong value.
func TestSourceThatMiscounts(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	const moreOrLess = "the Source returned n = "
	for name, test := range map[string]struct {
		n    func(p []byte) int
		err  error
		want string
	}{
		"more bytes":        {func(p []byte) int { return len(p) + 1 }, nil, moreOrLess},
		"far more":          {func([]byte) int { return math.MaxInt }, io.EOF, moreOrLess},
		"negative":          {func([]byte) int { return -1 }, nil, moreOrLess},
		"negative, error":   {func([]byte) int { return -1 }, io.EOF, moreOrLess},
		"fewer, no error":   {func(p []byte) int { return len(p) - 1 }, nil, "too few bytes and returned no error"},
		"nothing, no error": {func([]byte) int { return 0 }, nil, "too few bytes and returned no error"},
		"early end":         {func(p []byte) int { return len(p) - 2 }, io.EOF, ""},
		"error":             {func(p []byte) int { return len(p) - 1 }, errors.New("broken"), "broken"},
		"zeros":             {func(p []byte) int { clear(p); return len(p) }, nil, ""},
	} {
		for _, openAll := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, OpenAll %t", name, openAll), func(t *testing.T) {
				src.before = nil
				s := open(t, m, src, &set.Options{OpenAll: openAll})
				src.before = func(_ context.Context, _ string, p []byte, _ int64) (int, error, bool) {
					return test.n(p), test.err, true
				}
				check := func(what string, err error) {
					t.Helper()
					if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "t001") {
						t.Errorf("%s = %v, want an error of t001: %s", what, err, test.want)
					}
				}
				_, err := s.Get(background, []byte(key(60)))
				check("Get", err)
				_, err = getMany(background, s, bytesOf(key(60), key(70)), nil)
				check("GetMany", err)
				it := s.NewIter(background, nil)
				check("SeekGE", moved(it, it.SeekGE([]byte(key(60)))))
				it.Close()
				check("Verify", s.Verify(background, nil))
				s.Close()
			})
		}
	}
}

// A Source that panics makes the lookup panic with the same, and nothing stays in use.
func TestSourceThatPanics(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	var broken atomic.Bool // also for reads that go on when a lookup has panicked
	src.before = func(context.Context, string, []byte, int64) (int, error, bool) {
		if broken.Load() {
			panic("no store")
		}
		return 0, nil, false
	}
	s := open(t, m, src, eager)
	broken.Store(true)
	it := s.NewIter(background, nil)
	for name, do := range map[string]func(){
		"Get":     func() { s.Get(background, []byte(key(60))) },
		"GetMany": func() { getMany(background, s, bytesOf(key(0), key(60)), nil) },
		"Iter":    func() { it.First() },
		"Verify":  func() { s.Verify(background, nil) },
		"Open":    func() { set.Open(background, m, src, eager) },
		"Swap": func() {
			t1 := m.Tables[1]
			t1.Name = "new"
			s.Swap(background, &set.Manifest{Tables: []set.Table{t1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := panicOf(do); got != "no store" {
				t.Errorf("%v, want a panic with what the Source panics with", got)
			}
		})
	}
	broken.Store(false)
	checkGet(t, s, key(60), valueOf(60))
	it.Close()
	if err := errors.Join(s.Close(), s.Drain(background)); err != nil || s.MemorySize() != 0 {
		t.Errorf("Close and Drain = %v; %d bytes of open tables, want 0", err, s.MemorySize())
	}
}
