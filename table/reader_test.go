package table_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/sievetable/sievetable/table"
)

func TestReaderAfterClose(t *testing.T) {
	t.Parallel()
	r := open(t, build(t, withBloom, numbered(1000)), nil)
	it := r.NewIter(nil)
	it.First()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, get := r.Get([]byte("key000000"))
	_, appendGet := r.AppendGet(nil, []byte("key000000"))
	it.Last()
	fresh := r.NewIter(nil)
	fresh.First()
	for i, err := range []error{get, appendGet, r.Verify(), r.Close(), it.Error(), fresh.Error()} {
		if !errors.Is(err, table.ErrClosed) {
			t.Errorf("call %d after Close = %v, want ErrClosed", i, err)
		}
	}
}

func TestReaderRefusesImpossibleOptions(t *testing.T) {
	t.Parallel()
	contents := build(t, nil, nil)
	src := bytes.NewReader(contents)
	size := int64(len(contents))
	for _, tt := range []struct {
		name string
		src  io.ReaderAt
		size int64
		o    *table.ReaderOptions
	}{
		{"no reader", nil, size, nil},
		{"negative size", src, -1, nil},
		{"negative MaxBlockSize", src, size, &table.ReaderOptions{MaxBlockSize: -1}},
		{"MaxBlockSize that leaves no room for a trailer", src, size, &table.ReaderOptions{MaxBlockSize: math.MaxInt}},
	} {
		if r, err := table.NewReader(tt.src, tt.size, tt.o); err == nil || r != nil {
			t.Errorf("%s: NewReader = %v, %v; want nil and an error", tt.name, r, err)
		}
	}
}
