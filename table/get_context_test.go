package table_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// contextCalls look up all keys with a context, up to the first error.
var contextCalls = func() map[string]func(ctx context.Context, r *table.Reader, keys [][]byte) error {
	calls := map[string]func(ctx context.Context, r *table.Reader, keys [][]byte) error{}
	for name, get := range lookups {
		calls[name] = func(ctx context.Context, r *table.Reader, keys [][]byte) error {
			for _, key := range keys {
				if _, err := get(r.With(ctx), key); err != nil {
					return err
				}
			}
			return nil
		}
	}
	calls["GetMany"] = func(ctx context.Context, r *table.Reader, keys [][]byte) error {
		return r.GetMany(ctx, keys, &table.GetManyOptions{Concurrency: 3}, func(int, []byte) error { return nil })
	}
	return calls
}()

// A lookup reads a block once, with ReadAtContext, and counts the read, even if it fails.
func TestContextReadsOnce(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	for name, call := range contextCalls {
		var m table.Metrics
		r, s := openStore(t, build(t, oneKeyBlocks, pairs), &table.ReaderOptions{Metrics: &m})
		h, err := r.Locate(pairs[1].Key)
		noError(t, err)
		if err := call(t.Context(), r, keysOf(pairs, 1)); err != nil || len(s.reads) != 1 {
			t.Errorf("%s = %v after %d reads, want one", name, err, len(s.reads))
		}
		s.bad, s.err = 1, errBroken
		checkError(t, name, call(t.Context(), r, keysOf(pairs, 1)), errBroken, "")
		blocks, size := m.BlocksRead.Load(), m.BytesRead.Load()
		if name != "GetMany" && (blocks != 2 || size != 2*(h.Length+5)) {
			t.Errorf("%s: %d blocks and %d bytes counted, want both reads", name, blocks, size)
		}
	}
}

// If the context is done, lookups read nothing and fail, even if the block is cached or the table is corrupt. The
// original Reader works until one of the two is closed.
func TestDoneContext(t *testing.T) {
	t.Parallel()
	pairs, hashed := numbered(100), table.HashKey([]byte("absent"))
	calls := maps.Clone(contextCalls)
	for name, do := range map[string]func(r *table.Reader) error{
		"MayContain":       func(r *table.Reader) error { return errorOf(r.MayContain(pairs[1].Key)) },
		"MayContainHashed": func(r *table.Reader) error { return errorOf(r.MayContainHashed(&hashed)) },
		"All": func(r *table.Reader) (last error) {
			for _, err := range r.All(nil) {
				last = err
			}
			return last
		},
	} {
		calls[name] = func(ctx context.Context, r *table.Reader, _ [][]byte) error { return do(r.With(ctx)) }
	}
	iterates := map[string]bool{"SeekGE": true, "All": true}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	contents := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, pairs)
	bad := build(t, nil, pairs)
	damaged := newReader(t, table.Bytes(flipped(bad, len(bad)-60)), len(bad), nil) // in the index
	for name, call := range calls {
		checkError(t, name+" of a damaged table", call(t.Context(), damaged, keysOf(pairs, 1)), table.ErrCorrupt, "")
		if err := call(done, damaged, keysOf(pairs, 1)); err != context.Canceled && !iterates[name] {
			t.Errorf("%s of a damaged table, with a context that is done = %v", name, err)
		}
		r, s := openStore(t, contents, &table.ReaderOptions{Cache: table.NewCache(1 << 20)})
		for i, step := range []struct {
			ctx  context.Context
			want error
		}{{done, context.Canceled}, {t.Context(), nil}, {done, context.Canceled}, {t.Context(), nil}} {
			if i == 2 && iterates[name] {
				continue // an Iter does not look at the context if the Cache has the block
			}
			if err := call(step.ctx, r, keysOf(pairs, 1)); err != step.want || i == 0 && len(s.reads) > 0 {
				t.Errorf("%s, call %d = %v after %d reads, want %v", name, i, err, len(s.reads), step.want)
			}
		}
		noError(t, r.DontFillCache(true).With(done).Close())
		checkError(t, name+" after Close", call(t.Context(), r, keysOf(pairs, 1)), table.ErrClosed, "")
	}
}

// A context interrupts reads that would take an hour, and no goroutine is left.
func TestContextEndsReads(t *testing.T) {
	pairs := numbered(20)
	for name, call := range contextCalls {
		for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
			synctest.Test(t, func(t *testing.T) { // so that the reads begin before the context ends
				r, s := openStore(t, build(t, oneKeyBlocks, pairs), nil)
				s.latency = time.Hour
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
				if want == context.Canceled {
					ctx, cancel = context.WithCancel(t.Context())
					time.AfterFunc(5*time.Millisecond, cancel)
				}
				time.AfterFunc(time.Millisecond, func() {
					if stacks, found := goroutinesOf(readOfGetMany); found != (name == "GetMany") {
						t.Errorf("%s: a goroutine runs %s: %v:\n%s", name, readOfGetMany, found, stacks)
					}
				})
				start := time.Now()
				err := call(ctx, r, keysOf(pairs, 1, 3, 5, 7, 9))
				took := time.Since(start)
				cancel()
				checkNoReads(t)
				if !errors.Is(err, want) || len(s.reads) == 0 || took != 5*time.Millisecond {
					t.Errorf("%s = %v after %d reads and %v, want %v after 5 ms", name, err, len(s.reads), took, want)
				}
			})
		}
	}
}

// readOfGetMany is the function of the goroutines that read for GetMany.
const readOfGetMany = "table.run.read("

// checkNoReads checks, in a synctest bubble, that no goroutine reads for GetMany.
func checkNoReads(t *testing.T) {
	t.Helper()
	synctest.Wait() // let ending goroutines end
	if stacks, left := goroutinesOf(readOfGetMany); left {
		t.Fatalf("goroutines are left:\n%s", stacks)
	}
}

// An error or a panic of found ends the running reads.
func TestNoReadOutlivesFound(t *testing.T) {
	pairs := numbered(20)
	for name, found := range map[string]func(int, []byte) error{
		"an error": func(int, []byte) error { return io.ErrClosedPipe },
		"a panic":  func(int, []byte) error { panic(io.ErrClosedPipe) },
	} {
		synctest.Test(t, func(t *testing.T) {
			r, s := openStore(t, build(t, oneKeyBlocks, pairs), nil)
			s.latency, s.fast = time.Hour, 1
			start := time.Now()
			err := recovered(func() error { return r.GetMany(t.Context(), keysOf(pairs, 0, 2, 4, 6), nil, found) })
			if took := time.Since(start); err != io.ErrClosedPipe || took > 0 {
				t.Errorf("%s: GetMany = %v after %v", name, err, took)
			}
			checkNoReads(t)
		})
	}
}

// recovered returns the error that f returns or panics with.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	return f()
}

// GetMany does not wait for a source without ReadAtContext. The read ends when the source returns.
func TestContextOfAStubbornSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pairs := numbered(20)
		ctx, cancel := context.WithCancel(t.Context())
		opened, released := false, make(chan struct{})
		r := openHooked(t, build(t, oneKeyBlocks, pairs), nil, func(_, _ int64) error {
			if opened {
				cancel()
				<-released
			}
			return nil
		})
		opened = true
		checkError(t, "GetMany", contextCalls["GetMany"](ctx, r, keysOf(pairs, 1)), context.Canceled, "")
		close(released)
		checkNoReads(t)
	})
}

// A contextSource is a source with ReadAtContext.
type contextSource struct{ readAtFunc }

func (s contextSource) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	return s.ReadAt(p, off)
}

// If the context is done when a read ends, the error is the context's, for any source, even if the source returns
// another one, or panics. The Reader can still be used.
func TestContextErrorOfTheSource(t *testing.T) {
	t.Parallel()
	pairs, lost := numbered(20), errors.New("connection lost")
	contents := build(t, oneKeyBlocks, pairs)
	var onRead atomic.Pointer[func() error] // GetMany may leave a read running, which calls the next function
	src := hooked(contents, func(_, _ int64) error { return (*onRead.Load())() })
	works, panics := func() error { return nil }, func() error { panic(lost) }
	for _, source := range []io.ReaderAt{src, contextSource{src}} {
		onRead.Store(&works)
		r := newReader(t, source, len(contents), nil)
		for name, call := range contextCalls {
			for _, sourceErr := range []error{nil, lost} {
				ctx, cancel := context.WithCancel(t.Context())
				ends := func() error { cancel(); return sourceErr }
				onRead.Store(&ends)
				err := call(ctx, r, keysOf(pairs, 1))
				if !errors.Is(err, context.Canceled) || name != "GetMany" && sourceErr != nil && !errors.Is(err, lost) {
					t.Errorf("%s of a %T = %v, want the context's error and %v", name, source, err, sourceErr)
				}
			}
			onRead.Store(&panics)
			if err := recovered(func() error { return call(t.Context(), r, keysOf(pairs, 1, 3)) }); err != lost {
				t.Errorf("%s of a %T panics with %v, want %v", name, source, err, lost)
			}
		}
		onRead.Store(&works)
		checkLookups(t, r, pairs)
	}
}
