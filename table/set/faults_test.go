package set_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/set"
)

// If a Source breaks its contract, lookups return an error or panic, but never return a wrong value.
func TestSourceThatMiscounts(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	const moreOrLess, tooFew = "the Source returned n = ", "too few bytes and returned no error"
	for name, test := range map[string]struct {
		n    func(p []byte) int
		err  error
		want string
	}{
		"more bytes":        {func(p []byte) int { return len(p) + 1 }, nil, moreOrLess},
		"far more":          {func([]byte) int { return math.MaxInt }, io.EOF, moreOrLess},
		"negative":          {func([]byte) int { return -1 }, nil, moreOrLess},
		"negative, error":   {func([]byte) int { return -1 }, io.EOF, moreOrLess},
		"fewer, no error":   {func(p []byte) int { return len(p) - 1 }, nil, tooFew},
		"nothing, no error": {func([]byte) int { return 0 }, nil, tooFew},
		"early end":         {func(p []byte) int { return len(p) - 2 }, io.EOF, ""},
		"error":             {func(p []byte) int { return len(p) - 1 }, broken, "broken"},
		"zeros":             {func(p []byte) int { clear(p); return len(p) }, nil, ""},
	} {
		for _, openAll := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, OpenAll %t", name, openAll), func(t *testing.T) {
				src.before = nil
				s := open(t, m, src, &set.Options{OpenAll: openAll})
				src.before = func(_ context.Context, _ string, p []byte, _ int64) (int, error, bool) {
					return test.n(p), test.err, true
				}
				for _, do := range []func(*set.Set) error{getOf(60), getManyOf(60, 70), seekTo(60), verify} {
					err := do(s)
					checkError(t, "the call", err, nil, test.want)
					checkError(t, "the call", err, nil, "t001")
				}
				s.Close()
			})
		}
	}
}

// A tail that is larger than memory is an error, even if the Source says that the table is as large as the manifest
// says. A sparse file can be.
func TestTailLargerThanMemory(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, nil)
	src.before = func(_ context.Context, _ string, p []byte, _ int64) (int, error, bool) {
		return len(p) - 1, io.EOF, true
	}
	huge := changed(m.Tables[0], func(l *set.Table) { l.Size, l.TailSize = 1<<62, 1<<62 })
	s := open(t, huge, src, nil)
	for _, do := range []func(*set.Set) error{getOf(0), getManyOf(0, 1), seekTo(0), verify} {
		checkError(t, "the call", do(s), nil, "a tail of 4611686018427387904 bytes")
	}
}

// If the Source panics, the lookup panics with the same value, and nothing stays in use. If it panics while a table
// is opened, Unavailable returns the table with the value. If it ends the goroutine, the lookup returns an error.
func TestSourceThatPanics(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	var fault atomic.Value // of reads, even those that continue after a lookup has panicked
	fault.Store(func() {})
	src.before = doing(func() { fault.Load().(func())() })
	s, lazy := open(t, m, src, eager), open(t, manifestOf(m.Tables[:2]...), src, nil)
	fault.Store(func() { panic("no store") })
	it := s.NewIter(background, nil)
	panics := func(name string, do func()) {
		if got := errtest.PanicOf(do); got != "no store" {
			t.Errorf("%s: %v, want a panic with what the Source panics with", name, got)
		}
	}
	for range 2 {
		panics("Get", func() { getOf(60)(s) })
		panics("GetMany", func() { getManyOf(0, 60)(s) })
		panics("Iter", func() { it.First() })
		panics("Verify", func() { verify(s) })
		panics("Open", func() { set.Open(background, m, src, eager) })
		panics("Swap", func() { s.Swap(background, changed(m.Tables[1], func(l *set.Table) { l.Name = "new" })) })
		panics("Get that opens", func() { getOf(60)(lazy) })
		panics("GetMany that opens", func() { getManyOf(0, 60)(lazy) })
		panics("Reopen", func() { lazy.Reopen(background) })
	}
	for l, err := range lazy.Unavailable() {
		checkError(t, "Unavailable", err, nil, fmt.Sprintf(`set: table %q: opening panicked: no store`, l.Name))
	}
	fault.Store(runtime.Goexit)
	checkError(t, "Get", getOf(60)(lazy), nil, "the Source called runtime.Goexit")
	fault.Store(func() {})
	it.Close()
	for _, s := range []*set.Set{s, lazy} {
		checkGet(t, s, key(60), valueOf(60))
		checkEnd(t, s)
	}
}
