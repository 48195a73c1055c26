package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// failingWriter takes n bytes.
type failingWriter struct {
	n   int
	err error
}

func (f *failingWriter) Write(p []byte) (int, error) {
	if len(p) > f.n {
		n := f.n
		f.n = 0
		return n, f.err
	}
	f.n -= len(p)
	return len(p), nil
}

// A sink that fails at any byte: the Writer reports that error, first and last.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk is full")
	size := len(build(t, nil, numbered(100)))
	for n := range size {
		w := newWriter(t, &failingWriter{n, cause}, nil)
		err := appendAll(w, numbered(100))
		closing := w.Close()
		if !errors.Is(closing, cause) || err != nil && closing != err {
			t.Fatalf("sink that fails at byte %d: Append = %v, Close = %v; want the sink's error", n, err, closing)
		}
	}
}

// A sink that takes less, or claims more, than it was given and calls that no
// error.
func TestSinkThatMiscountsIsAShortWrite(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-1, 0, 1, 1 << 30} {
		w := newWriter(t, lyingWriter(n), nil)
		err := w.Append([]byte("k"), bytes.Repeat([]byte("0123456789"), 100_000))
		if closing := w.Close(); !errors.Is(closing, io.ErrShortWrite) {
			t.Errorf("sink that says it wrote %d: Append = %v, Close = %v; want io.ErrShortWrite", n, err, closing)
		}
	}
}

type lyingWriter int

func (l lyingWriter) Write(p []byte) (int, error) { return int(l), nil }

// A table whose FilterKey panicked in the midst of an Append is not finished,
// even if the caller recovers.
func TestAppendAfterAPanic(t *testing.T) {
	t.Parallel()
	o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterKey: func(key []byte) []byte {
		if string(key) == "b" {
			panic("no b")
		}
		return key
	}}
	w := newWriter(t, io.Discard, o)
	appendRecovering := func(key string) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return w.Append([]byte(key), nil)
	}
	for _, key := range []string{"a", "b", "c"} {
		if err := appendRecovering(key); (err == nil) != (key == "a") {
			t.Errorf("Append(%q) = %v", key, err)
		}
	}
	if err := w.Close(); err == nil {
		t.Error("Close: no error")
	}
}

// The same of a policy that panics while Close finishes the table: a second
// Close does not publish it, and Abort removes it.
func TestCloseAfterAPanic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := table.Create(filepath.Join(dir, "a.ldb"), &table.WriterOptions{FilterPolicy: panickingPolicy{filter.NewBloom(10)}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.Append([]byte("a"), nil); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Close did not panic")
			}
		}()
		w.Close()
	}()
	if err := w.Close(); err == nil {
		t.Error("a second Close: no error")
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("the directory has %v, want nothing", left)
	}
}

type panickingPolicy struct{ filter.Policy }

func (panickingPolicy) NewGenerator() filter.Generator { return panickingGenerator{} }

type panickingGenerator struct{}

func (panickingGenerator) Add([]byte)             {}
func (panickingGenerator) Generate(filter.Buffer) { panic("no filter") }
