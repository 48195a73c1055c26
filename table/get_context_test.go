package table_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// contextCalls look all keys up by a context.
var contextCalls = map[string]func(ctx context.Context, r *table.Reader, keys [][]byte) error{
	"Get": func(ctx context.Context, r *table.Reader, keys [][]byte) error {
		return eachKey(keys, func(key []byte) error {
			_, err := r.With(ctx).Get(key)
			return err
		})
	},
	"AppendGet": func(ctx context.Context, r *table.Reader, keys [][]byte) error {
		return eachKey(keys, func(key []byte) error {
			_, err := r.With(ctx).AppendGet(nil, key)
			return err
		})
	},
	"Find": func(ctx context.Context, r *table.Reader, keys [][]byte) error {
		return eachKey(keys, func(key []byte) error {
			_, _, err := r.With(ctx).Find(key)
			return err
		})
	},
	"FindGE": func(ctx context.Context, r *table.Reader, keys [][]byte) error {
		return eachKey(keys, func(key []byte) error {
			_, _, err := r.With(ctx).FindGE(key)
			return err
		})
	},
	"GetMany": func(ctx context.Context, r *table.Reader, keys [][]byte) error {
		return r.GetMany(ctx, keys, &table.GetManyOptions{Concurrency: 3}, func(int, []byte) error { return nil })
	},
}

// eachKey calls f for each key, up to an error.
func eachKey(keys [][]byte, f func(key []byte) error) error {
	for _, key := range keys {
		if err := f(key); err != nil {
			return err
		}
	}
	return nil
}

// With a context, Get finds what it finds without, with whatever source and cache.
func TestGetWithContext(t *testing.T) {
	t.Parallel()
	pairs := numbered(300)
	contents := build(t, withBloom, pairs)
	for _, o := range []*table.ReaderOptions{nil, {Cache: table.NewCache(1 << 20)}} {
		far, _ := openStore(t, contents, o)
		for name, r := range map[string]*table.Reader{"context": far, "no context": open(t, contents, o)} {
			var values [][]byte
			for _, p := range pairs {
				v, err := r.With(t.Context()).Get(p.Key)
				values = append(values, v)
				if _, absent := r.With(t.Context()).Get(append(bytes.Clone(p.Key), '~')); err != nil || absent != table.ErrNotFound {
					t.Errorf("%s: Get(%q) = %q, %v, and of an absent key %v", name, p.Key, v, err, absent)
				}
			}
			for i, p := range pairs {
				if !bytes.Equal(values[i], p.Value) {
					t.Errorf("%s: value %d became %q", name, i, values[i])
				}
			}
		}
	}
}

// A lookup reads a block once, by the method with a context, and counts that, also if it fails.
func TestContextReadsOnce(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	for name, call := range contextCalls {
		var m table.Metrics
		r, s := openStore(t, build(t, oneKeyBlocks, pairs), &table.ReaderOptions{Metrics: &m})
		h, err := r.Locate(pairs[1].Key)
		if err != nil {
			t.Fatal(err)
		}
		if err := call(t.Context(), r, keysOf(pairs, 1)); err != nil || len(s.reads) != 1 {
			t.Errorf("%s = %v after %d reads, want one", name, err, len(s.reads))
		}
		s.latency = time.Hour
		synctest.Test(t, func(t *testing.T) { // so that the read begins before the time is up
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			start := time.Now()
			err := call(ctx, r, keysOf(pairs, 1))
			if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != time.Millisecond {
				t.Errorf("%s = %v after %v, want context.DeadlineExceeded after 1 ms", name, err, took)
			}
		})
		blocks, size := m.BlocksRead.Load(), m.BytesRead.Load()
		if name != "GetMany" && (blocks != 2 || size != 2*(h.Length+5)) {
			t.Errorf("%s: %d blocks and %d bytes counted, want both reads", name, blocks, size)
		}
	}
}

// With a context that is done nothing is read, and nothing answered.
func TestDoneContext(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range contextCalls {
		r, s := openStore(t, build(t, nil, pairs), &table.ReaderOptions{Cache: table.NewCache(1 << 20)})
		if err := call(ctx, r, keysOf(pairs, 1)); err != context.Canceled || len(s.reads) > 0 {
			t.Errorf("%s = %v after %d reads, want context.Canceled", name, err, len(s.reads))
		}
		if err := call(t.Context(), r, keysOf(pairs, 1)); err != nil {
			t.Errorf("%s = %v", name, err)
		}
		if err := call(ctx, r, keysOf(pairs, 1)); err != context.Canceled {
			t.Errorf("%s from the cache = %v, want context.Canceled", name, err)
		}
	}
}

// A context ends reads that would take an hour, and no goroutine is left.
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

// readOfGetMany is the function of the goroutines that read for a GetMany.
const readOfGetMany = "table.run.read("

// A GetMany that reads has goroutines of the name that checkNoReads looks for.
func TestReadsOfGetManyAreSeen(t *testing.T) {
	pairs := numbered(20)
	synctest.Test(t, func(t *testing.T) {
		r, s := openStore(t, build(t, oneKeyBlocks, pairs), nil)
		s.latency = time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Millisecond, func() {
			if stacks, found := goroutinesOf(readOfGetMany); !found {
				t.Errorf("no goroutine runs %s:\n%s", readOfGetMany, stacks)
			}
			cancel()
		})
		if err := contextCalls["GetMany"](ctx, r, keysOf(pairs, 1, 3, 5)); !errors.Is(err, context.Canceled) {
			t.Errorf("GetMany = %v", err)
		}
		checkNoReads(t)
	})
}

// checkNoReads checks, in a bubble of synctest, that no goroutine reads for a GetMany.
func checkNoReads(t *testing.T) {
	t.Helper()
	synctest.Wait() // those that are about to end do so
	if stacks, left := goroutinesOf(readOfGetMany); left {
		t.Fatalf("goroutines are left:\n%s", stacks)
	}
}

// An error of found ends the reads that run, and so does a panic.
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

// recovered returns the error of f, or that which it panics with.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	return f()
}

// GetMany does not wait for a source that knows no context. The read ends when the source does.
func TestContextOfAStubbornSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pairs := numbered(20)
		contents := build(t, oneKeyBlocks, pairs)
		ctx, cancel := context.WithCancel(t.Context())
		opened, released := false, make(chan struct{})
		r, err := table.NewReader(readAtFunc(func(p []byte, off int64) (int, error) {
			if opened {
				cancel()
				<-released
			}
			return bytes.NewReader(contents).ReadAt(p, off)
		}), int64(len(contents)), nil)
		if err != nil {
			t.Fatal(err)
		}
		opened = true
		if err := r.GetMany(ctx, keysOf(pairs, 1), nil, func(int, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("GetMany = %v, want context.Canceled", err)
		}
		close(released)
		checkNoReads(t)
	})
}

// An errorSource ends the context while it reads, and returns an error of its own, or panics with it.
type errorSource struct {
	*bytes.Reader
	err    error
	cancel func()
	panics bool
}

func (s *errorSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if s.panics {
		panic(s.err)
	}
	s.cancel()
	return 0, s.err
}

// The error is the context's, also if the source returns another one.
func TestContextErrorOfTheSource(t *testing.T) {
	t.Parallel()
	pairs, lost := numbered(20), errors.New("connection lost")
	contents := build(t, oneKeyBlocks, pairs)
	src := &errorSource{Reader: bytes.NewReader(contents), err: lost}
	r, err := table.NewReader(src, int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, src.cancel = context.WithCancel(t.Context())
	if _, err := r.With(ctx).Get(pairs[1].Key); !errors.Is(err, context.Canceled) || !errors.Is(err, lost) {
		t.Errorf("Get = %v, want the context's error and the source's", err)
	}
	src.panics = true
	for name, call := range contextCalls {
		if err := recovered(func() error { return call(t.Context(), r, keysOf(pairs, 1, 3)) }); err != lost {
			t.Errorf("%s panics with %v, want %v", name, err, lost)
		}
	}
	if v, err := r.Get(pairs[1].Key); err != nil || !bytes.Equal(v, pairs[1].Value) {
		t.Errorf("Get = %q, %v", v, err)
	}
}

// A lookup whose context is done when its read ends returns the context's error, from whatever
// source, and the Reader goes on.
func TestDeadlineDuringARead(t *testing.T) {
	t.Parallel()
	pairs := numbered(10)
	contents := build(t, withBloom, pairs)
	for name, call := range contextCalls {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var src cancelingSource
		src.Reader = bytes.NewReader(contents)
		r, err := table.NewReader(&src, int64(len(contents)), nil)
		if err != nil {
			t.Fatal(err)
		}
		src.cancel = cancel
		if err := call(ctx, r, [][]byte{pairs[3].Key}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want %v", name, err, context.Canceled)
		}
		checkLookups(t, r, pairs)
	}
}

// A cancelingSource cancels a context in each read, and reads all the same.
type cancelingSource struct {
	*bytes.Reader
	cancel func()
}

func (s *cancelingSource) ReadAt(p []byte, off int64) (int, error) {
	if s.cancel != nil {
		s.cancel()
	}
	return s.Reader.ReadAt(p, off)
}

// Of a Reader With a context that is done, each lookup and iterator fails. The Reader that it is of goes on, until one of
// them is closed.
func TestReaderWithDoneContext(t *testing.T) {
	t.Parallel()
	pairs := numbered(300)
	key, hashed := pairs[7].Key, table.HashKey([]byte("absent"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, do := range map[string]func(r *table.Reader) error{
		"Get":              func(r *table.Reader) error { _, err := r.Get(key); return err },
		"AppendGet":        func(r *table.Reader) error { _, err := r.AppendGet(nil, key); return err },
		"Find":             func(r *table.Reader) error { _, _, err := r.Find(key); return err },
		"AppendFind":       func(r *table.Reader) error { _, _, err := r.AppendFind(nil, nil, key); return err },
		"FindGE":           func(r *table.Reader) error { _, _, err := r.FindGE(key); return err },
		"MayContain":       func(r *table.Reader) error { _, err := r.MayContain(key); return err },
		"MayContainHashed": func(r *table.Reader) error { _, err := r.MayContainHashed(&hashed); return err },
		"FirstKey":         func(r *table.Reader) error { _, err := r.FirstKey(); return err },
		"LastKey":          func(r *table.Reader) error { _, err := r.LastKey(); return err },
		"All": func(r *table.Reader) (last error) {
			for _, err := range r.All(nil) {
				last = err
			}
			return last
		},
	} {
		r := open(t, build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, pairs), nil)
		if err := do(r); err != nil {
			t.Errorf("%s without a context: %v", name, err)
		}
		with := r.DontFillCache(true).With(ctx)
		if err := do(with); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a context that is done: %v", name, err)
		}
		if err := errors.Join(do(r), with.Close()); err != nil {
			t.Errorf("%s after it: %v", name, err)
		}
		if err := do(r); !errors.Is(err, table.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

// A context that is done comes before a table that cannot be opened, for each lookup.
func TestDoneContextComesBeforeDamage(t *testing.T) {
	t.Parallel()
	data := build(t, nil, numbered(300))
	data[len(data)-60] ^= 1 // of the index, which is before the footer
	r, err := table.NewReader(table.Bytes(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hashed := table.HashKey([]byte("absent"))
	for name, mayContain := range map[string]func(r *table.Reader) (bool, error){
		"MayContain":       func(r *table.Reader) (bool, error) { return r.MayContain([]byte("absent")) },
		"MayContainHashed": func(r *table.Reader) (bool, error) { return r.MayContainHashed(&hashed) },
	} {
		if _, err := mayContain(r); !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("%s of a damaged table: %v", name, err)
		}
		if _, err := mayContain(r.With(ctx)); err != context.Canceled {
			t.Errorf("%s of a damaged table, with a context that is done: %v", name, err)
		}
	}
}
