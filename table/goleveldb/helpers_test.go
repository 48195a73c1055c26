package goleveldb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	lerrors "github.com/syndtr/goleveldb/leveldb/errors"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	ltable "github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table/goleveldb"
	"github.com/sievetable/sievetable/table/goleveldb/internal/leveldb"
)

var noError = errtest.NoError

// A writer is a Writer of either package.
type writer interface {
	Append(key, value []byte) error
	BlocksLen() int
	EntriesLen() int
	BytesLen() int
	Close() error
}

// A reader is a Reader of either package.
type reader interface {
	Find(key []byte, filtered bool, ro *opt.ReadOptions) (rkey, value []byte, err error)
	FindKey(key []byte, filtered bool, ro *opt.ReadOptions) (rkey []byte, err error)
	Get(key []byte, ro *opt.ReadOptions) (value []byte, err error)
	OffsetOf(key []byte) (offset int64, err error)
	NewIterator(slice *util.Range, ro *opt.ReadOptions) iterator.Iterator
	Release()
}

type entry struct{ key, value []byte }

// A tableCase is a way to write and read tables.
type tableCase struct {
	name     string
	o        opt.Options
	internal bool // keys are internal keys
}

// tableCases returns the cases, for both packages.
func tableCases() []tableCase {
	bloom := lfilter.NewBloomFilter(10)
	ownComparer, ownFilter := ownTypes()
	lookalike, lookalikeFilter := goleveldb.Lookalikes(comparer.DefaultComparer, bloom)
	backward, _ := goleveldb.Lookalikes(descending, bloom)
	return []tableCase{
		{name: "default"},
		{name: "no compression", o: opt.Options{Compression: opt.NoCompression}},
		{name: "filter", o: opt.Options{Filter: bloom, Compression: opt.NoCompression}},
		{name: "small blocks", o: withFilterBaseLg(opt.Options{Filter: lfilter.NewBloomFilter(7), BlockSize: 200, BlockRestartInterval: 3, Compression: opt.NoCompression}, 8)},
		{name: "filter, Snappy", o: opt.Options{Filter: bloom, BlockSize: 700}},
		{name: "filter of a program", o: opt.Options{Filter: lengthFilter{}, BlockSize: 500, Compression: opt.NoCompression}},
		{name: "order of a program", o: opt.Options{Comparer: descending, Filter: bloom, BlockSize: 500, Compression: opt.NoCompression}},
		{name: "engine", internal: true, o: opt.Options{Comparer: leveldb.NewComparer(comparer.DefaultComparer), Filter: leveldb.NewFilter(bloom), BlockSize: 400, Compression: opt.NoCompression}},
		{name: "engine without filter", internal: true, o: opt.Options{Comparer: leveldb.NewComparer(comparer.DefaultComparer), BlockSize: 400, Compression: opt.NoCompression}},
		{name: "engine, order of a program", internal: true, o: opt.Options{Comparer: leveldb.NewComparer(descending), Filter: leveldb.NewFilter(bloom), BlockSize: 400, Compression: opt.NoCompression}},
		{name: "engine, filter of a program", internal: true, o: opt.Options{Comparer: leveldb.NewComparer(comparer.DefaultComparer), Filter: leveldb.NewFilter(lengthFilter{}), BlockSize: 400, Compression: opt.NoCompression}},
		{name: "types named as the engine's", o: opt.Options{Comparer: ownComparer, Filter: ownFilter, BlockSize: 500, Compression: opt.NoCompression}},
		{name: "types with names and fields of the engine's", o: opt.Options{Comparer: lookalike, Filter: lookalikeFilter, BlockSize: 500, Compression: opt.NoCompression}},
		{name: "the same, order of a program", o: opt.Options{Comparer: backward, Filter: lookalikeFilter, BlockSize: 500, Compression: opt.NoCompression}},
		{name: "order of a program, with versions", o: opt.Options{Comparer: ordering(versioned), Filter: bloom, BlockSize: 200, Compression: opt.NoCompression}},
		{name: "fork of the engine", internal: true, o: opt.Options{Comparer: fork(bytes.Compare), Filter: forkFilter{wrapped{leveldb.NewFilter(bloom)}}, BlockSize: 400, Compression: opt.NoCompression}},
		{name: "fork of the engine with keys of the system", internal: true, o: opt.Options{Comparer: fork(systemLast), Filter: leveldb.NewFilter(bloom), BlockSize: 400, Compression: opt.NoCompression}},
		{name: "fork of the engine that keeps goleveldb's comparer", internal: true, o: opt.Options{Comparer: leveldb.NewFork(shortSystemLast{ordering(systemLast)}), Filter: leveldb.NewFilter(bloom), BlockSize: 400, Compression: opt.NoCompression}},
		{name: "fork of the engine, backward", internal: true, o: opt.Options{Comparer: fork(descending.Compare), Filter: leveldb.NewFilter(bloom), BlockSize: 400, Compression: opt.NoCompression}},
	}
}

// entries returns entries in the order of the case, from a fixed seed.
func (c *tableCase) entries(n int) []entry {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	all := make([]entry, n)
	for i := range all {
		key := fmt.Appendf(nil, "%0*d", 1+rng.IntN(12), rng.IntN(5*n))
		if c.internal {
			key = internalKey(key[:min(len(key), 4)], uint64(rng.IntN(1000)), byte(rng.IntN(2)))
		}
		all[i] = entry{key, bytes.Repeat(fmt.Appendf(nil, "value %d, ", rng.IntN(n)), rng.IntN(8))}
	}
	order := c.o.GetComparer()
	slices.SortFunc(all, func(a, b entry) int { return order.Compare(a.key, b.key) })
	return slices.CompactFunc(all, func(a, b entry) bool { return order.Compare(a.key, b.key) == 0 })
}

// internalKey returns a key of goleveldb's engine.
func internalKey(user []byte, sequence uint64, kind byte) []byte {
	return binary.LittleEndian.AppendUint64(bytes.Clone(user), sequence<<8|uint64(kind))
}

// write writes entries with w, and checks for errors.
func write(t testing.TB, w writer, entries []entry) {
	t.Helper()
	for _, e := range entries {
		if err := w.Append(e.key, e.value); err != nil {
			t.Fatalf("Append(%q): %v", e.key, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// theirTable returns a table that goleveldb writes.
func theirTable(t testing.TB, o *opt.Options, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	write(t, theirWriter(&b, o), entries)
	return b.Bytes()
}

// fd is the FileDesc of all tables in these tests.
var fd = storage.FileDesc{Type: storage.TypeTable, Num: 7}

// openBoth opens a table with goleveldb's package and with ours.
func openBoth(t *testing.T, contents []byte, o *opt.Options) (theirs, ours reader) {
	t.Helper()
	size := int64(len(contents))
	theirs, err := ltable.NewReader(bytes.NewReader(contents), size, fd, nil, nil, o)
	noError(t, err)
	ours, err = goleveldb.NewReader(bytes.NewReader(contents), size, fd, nil, nil, o)
	noError(t, err)
	t.Cleanup(func() { theirs.Release(); ours.Release() })
	return theirs, ours
}

// errorKind returns the kind of err and, for corruption, its place.
func errorKind(err error) string {
	var theirs *ltable.ErrCorrupted
	var ours *goleveldb.ErrCorrupted
	c, corrupt := err.(*lerrors.ErrCorrupted)
	switch {
	case err == nil:
		return ""
	case err == goleveldb.ErrNotFound:
		return "not found"
	case err == ltable.ErrReaderReleased, err == goleveldb.ErrReaderReleased:
		return "reader released"
	case corrupt && errors.As(c.Err, &theirs):
		return fmt.Sprintf("%v: %s at %d, %d bytes", c.Fd, theirs.Kind, theirs.Pos, theirs.Size)
	case corrupt && errors.As(c.Err, &ours):
		return fmt.Sprintf("%v: %s at %d, %d bytes", c.Fd, ours.Kind, ours.Pos, ours.Size)
	}
	return err.Error()
}

// lengthFilter is a filter that contains the lengths of keys.
type lengthFilter struct{}

func (lengthFilter) Name() string { return "test.Lengths" }

func (lengthFilter) NewGenerator() lfilter.FilterGenerator { return &lengths{} }

func (lengthFilter) Contains(filter, key []byte) bool {
	return bytes.Contains(filter, []byte{byte(len(key))})
}

type lengths struct{ all []byte }

func (l *lengths) Add(key []byte) { l.all = append(l.all, byte(len(key))) }

func (l *lengths) Generate(b lfilter.Buffer) {
	copy(b.Alloc(len(l.all)), l.all)
	l.all = l.all[:0]
}

// descending is a program's own order.
const descending = tabletest.Reversed("test.Descending")
