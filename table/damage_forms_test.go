package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// forms are the ways to open a table. Whatever its bytes are, they have the same answers.
var forms = []struct {
	name string
	open func(t testing.TB, contents []byte, o *table.ReaderOptions) (*table.Reader, error)
}{
	{"built", func(_ testing.TB, contents []byte, o *table.ReaderOptions) (*table.Reader, error) {
		r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), o)
		if err == nil {
			r.BuildIndex()
		}
		return r, err
	}},
	{"bytes", func(_ testing.TB, contents []byte, o *table.ReaderOptions) (*table.Reader, error) {
		return table.NewReader(table.Bytes(contents), int64(len(contents)), o)
	}},
	{"mapped", func(t testing.TB, contents []byte, o *table.ReaderOptions) (*table.Reader, error) {
		return table.NewReader(mapped(t, contents), int64(len(contents)), o)
	}},
	{"mapped and built", func(t testing.TB, contents []byte, o *table.ReaderOptions) (*table.Reader, error) {
		r, err := table.NewReader(mapped(t, contents), int64(len(contents)), o)
		if err == nil {
			r.BuildIndex()
		}
		return r, err
	}},
}

// mappedFile is the file of mapped. To make one takes as long as all else that is done with a small table.
var mappedFile = sync.OnceValues(func() (*os.File, error) {
	f, err := os.CreateTemp("", "")
	if err == nil {
		os.Remove(f.Name()) // Windows does not remove it while it is open
	}
	return f, err
})

// mapped returns contents in a file that is mapped, or in memory if the system cannot map it. They are
// there until the next call with other contents.
func mapped(t testing.TB, contents []byte) table.SliceReaderAt {
	t.Helper()
	f, err := mappedFile()
	if err == nil {
		err = f.Truncate(int64(len(contents)))
	}
	if err == nil {
		_, err = f.WriteAt(contents, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if m := table.MapFile(f, int64(len(contents))); m != nil {
		return m
	}
	return table.Bytes(contents)
}

// answers are what a Reader says of keys, and of all its entries.
type answers struct {
	r      *table.Reader
	opened error
}

// get returns the value of key, and what the error is about.
func (a answers) get(key []byte) (value []byte, err error) {
	if a.opened != nil {
		return nil, kindOf(a.opened)
	}
	value, err = a.r.Get(key)
	return value, kindOf(err)
}

// entries returns a checksum of the entries that an Iter shows before an error, and some of their keys.
func (a answers) entries() (sum uint32, keys [][]byte, err error) {
	if a.opened != nil {
		return 0, nil, kindOf(a.opened)
	}
	it := a.r.NewIter(nil)
	for n := 0; it.Next() && n < 2000; n++ {
		sum = crc32.Update(sum, crc32.IEEETable, fmt.Appendf(nil, "%d %d ", len(it.Key()), len(it.Value())))
		sum = crc32.Update(crc32.Update(sum, crc32.IEEETable, it.Key()), crc32.IEEETable, it.Value())
		if n < 40 && len(it.Key()) < 1000 {
			keys = append(keys, slices.Clone(it.Key()))
		}
	}
	return sum, keys, kindOf(it.Close())
}

// kindOf returns what a program tells errors apart by.
func kindOf(err error) error {
	for _, kind := range []error{table.ErrNotFound, table.ErrFilterOnly, table.ErrCorrupt} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

// sameInAnotherForm compares the answers of a table with those of it in another form. Which one that
// is depends on its bytes, so that tests of many tables have all.
func (in *inspection) sameInAnotherForm() {
	in.t.Helper()
	form := forms[crc32.ChecksumIEEE(in.contents)%uint32(len(forms))]
	var a, b answers
	a.r, a.opened = table.NewReader(bytes.NewReader(in.contents), int64(len(in.contents)), in.o)
	b.r, b.opened = form.open(in.t, in.contents, in.o)
	keys := [][]byte{nil, []byte("a"), []byte("aa"), []byte("b"), []byte("c"), []byte("d"), []byte("zz"), []byte("key000002")}
	want, shown, wantErr := a.entries()
	if got, _, err := b.entries(); got != want || textOf(err) != textOf(wantErr) {
		in.t.Errorf("%s: %s: entries of checksum %#x, %v; want %#x, %v", in.name, form.name, got, err, want, wantErr)
	}
	keys = append(keys, shown...)
	for _, key := range keys {
		want, wantErr := a.get(key)
		if got, err := b.get(key); !bytes.Equal(want, got) || textOf(err) != textOf(wantErr) {
			in.t.Errorf("%s: %s: Get(%.100q) = %.100q, %v; want %.100q, %v", in.name, form.name, key, got, err, want, wantErr)
		}
	}
	for _, r := range []*table.Reader{a.r, b.r} {
		if r != nil {
			r.Close()
		}
	}
}
