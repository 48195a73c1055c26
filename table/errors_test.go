package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// A CorruptionError has the name of the file from Open, and the kind, offset and length of the block, whichever
// operation finds it. For NewReader, there is no name.
func TestCorruptionErrorNamesItsPlace(t *testing.T) {
	t.Parallel()
	contents := flipped(sound().build(), 3) // in the first data block, and under its checksum
	path := writeTable(t, contents)
	opened, err := table.Open(path, nil)
	noError(t, err)
	defer opened.Close()
	for name, r := range map[string]*table.Reader{path: opened, "": open(t, contents, nil)} {
		it := r.NewIter(nil)
		it.First()
		_, _, findErr := r.Find([]byte("a"))
		for operation, err := range map[string]error{
			"Get": errorOf(r.Get([]byte("a"))), "Find": findErr, "Iter": it.Error(), "Verify": r.Verify(),
		} {
			var c *table.CorruptionError
			if !errors.As(err, &c) {
				t.Errorf("%s = %v, want a *CorruptionError", operation, err)
				continue
			}
			c.Err = nil
			checkDiff(t, operation, &table.CorruptionError{File: name, Block: "data block", Length: 22, KeysUpTo: []byte("b")}, c)
		}
	}
	path = writeTable(t, flipped(contents, len(contents)-1))
	_, err = table.Open(path, nil)
	if want := fmt.Sprintf("table: %s: footer at 157 (48 bytes): magic number", path); !strings.HasPrefix(fmt.Sprint(err), want) {
		t.Errorf("Open = %v, want %s", err, want)
	}
}

// A name in an error is quoted if it could be misread.
func TestCorruptionErrorQuotesNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"users.ldb":            "table: users.ldb: footer at 0 (0 bytes): cut",
		"a\nusers.ldb: ok":     `table: "a\nusers.ldb: ok": footer at 0 (0 bytes): cut`,
		"\x1b[2J":              `table: "\x1b[2J": footer at 0 (0 bytes): cut`,
		"":                     "table: footer at 0 (0 bytes): cut",
		"Überblick \u202e.ldb": `table: "Überblick \u202e.ldb": footer at 0 (0 bytes): cut`,
	} {
		err := &table.CorruptionError{File: name, Block: "footer", Err: errors.New("cut")}
		if got := err.Error(); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// LevelDB's reader ignores bytes after the handle in values of index and metaindex, which leaves room for extensions
// of the format.
func TestBytesBehindHandles(t *testing.T) {
	in := inspect(t, "bytes behind handles", soundBut(func(p *twoBlocks) {
		p.handles = func(h1, h2 string) (string, string) { return h1 + "x", h2 + "\xff\xff" }
		p.meta = func(h string) string { return rawtable.Entries(bloomName, h+"more") }
	}), nil, truthOf(soundPairs...))
	noError(t, errors.Join(in.costsTimeOnly().FilterErr(), in.verified))
}

// Append refuses a key that no block can hold, before it allocates memory for it.
func TestKeyOfAGigabyte(t *testing.T) {
	needsMemory(t)
	t.Parallel()
	err := newWriter(t, io.Discard, nil).Append(make([]byte, 1<<30), nil)
	checkError(t, "Append", err, nil, "key of 1073741824 bytes and value of 0 bytes exceed the maximum of 1073741792")
}

// Append accepts the largest entry after others too.
func TestEntryOfAGigabyte(t *testing.T) {
	long.Test(t)
	needsMemory(t)
	w := newWriter(t, io.Discard, &table.WriterOptions{Compression: table.NoCompression})
	noError(t, errors.Join(w.Append([]byte("a"), make([]byte, 4000)), w.Append([]byte("b"), make([]byte, 1<<30-33)), w.Close()))
}

// Errors quote at most 64 bytes of each key. inspect checks this for every corrupt table. This test checks each
// error that names a key, with long keys.
func TestErrorsShowTheStartOfKeys(t *testing.T) {
	long := func(first string) string { return first + strings.Repeat("k", 1000) }
	for name, change := range map[string]func(p *twoBlocks){
		"out of order":        func(p *twoBlocks) { p.data1 = raw(rawtable.Entries(long("b"), "1", long("a"), "2")) },
		"above the separator": func(p *twoBlocks) { p.data1 = raw(rawtable.Entries("a", "1", long("c"), "2")) },
		"below the separator": func(p *twoBlocks) { p.separators[0] = long("c") },
		"separators' order":   func(p *twoBlocks) { p.separators = [2]string{long("c"), long("b")} },
		"no handle": func(p *twoBlocks) {
			p.separators[0], p.handles = long("b"), func(_, h2 string) (string, string) { return "\x80", h2 }
		},
		"blocks' order": func(p *twoBlocks) {
			p.separators[1], p.handles = long("e"), func(h1, h2 string) (string, string) { return h2, h1 }
		},
		"denied": func(p *twoBlocks) { p.data1 = raw(rawtable.Entries("a", "1", long("ab"), "2")) },
		"a metaindex for index": func(p *twoBlocks) {
			p.index = func(_, _ string) stored { return raw(rawtable.Entries()) }
			metaOf(long("a"), rawtable.Handle(0, 22))(p)
		},
	} {
		in := inspect(t, name, soundBut(change), nil, nil)
		if !strings.Contains(fmt.Sprint(in.opened, in.verified), "k\"… (100") {
			t.Errorf("%s: NewReader = %v, Verify = %v, want a key cut short", name, in.opened, in.verified)
		}
	}
	err := appendAll(newWriter(t, io.Discard, nil), pairsOf(long("b"), long("a")))
	if got := fmt.Sprint(err); !errors.Is(err, table.ErrOrder) || len(got) > 300 {
		t.Errorf("Append = %s", got)
	}
}

// With AnyOrder, a table in any order opens, is iterated in the order of the file, and verifies, unless it is
// corrupt. In the bytewise order it does not, and the error says why.
func TestAnyOrderGoesThroughAnyTable(t *testing.T) {
	t.Parallel()
	shuffled := numbered(500)
	rand.New(rand.NewSource(1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	reversed := numbered(500)
	slices.Reverse(reversed)
	many := numbered(20_000) // more than are decoded at once, in the largest blocks
	slices.Reverse(many)
	for name, pairs := range map[string][]workload.Pair{
		"shuffled": shuffled, "reversed": reversed, "many": many, "in order": numbered(500), "none": nil,
	} {
		for _, size := range []int{1, 500, 16 << 20} {
			o := &table.WriterOptions{Comparer: table.AnyOrder, FilterPolicy: filter.NewBloom(10), BlockSize: size, Properties: true}
			contents := build(t, o, pairs)
			anyOrder := &table.ReaderOptions{Comparer: table.AnyOrder}
			cached := open(t, contents, &table.ReaderOptions{Comparer: table.AnyOrder, Cache: table.NewCache(1 << 20)})
			r := open(t, contents, anyOrder)
			for way, walk := range ways {
				for _, r := range []*table.Reader{cached, r} {
					prefixed := r.NewIter(&table.IterOptions{Prefix: []byte("a")}) // which has no effect here
					checkPairs(t, name+", "+way, pairs, walk(t, prefixed))
				}
			}
			checkSound(t, name, r)
			if p, err := r.Properties(); err != nil || p.Entries != uint64(len(pairs)) {
				t.Errorf("%s: Properties = %v, %v", name, p, err)
			}
			if got, want := bytewise(contents), name != "in order" && name != "none"; errors.Is(got, table.ErrOrder) != want || errors.Is(got, table.ErrCorrupt) != want {
				t.Errorf("%s, blocks of %d, in the bytewise order: %v; want ErrOrder: %v", name, size, got, want)
			}
			err := open(t, flipped(contents, 10), anyOrder).Verify()
			if !errors.Is(err, table.ErrCorrupt) || errors.Is(err, table.ErrOrder) {
				t.Errorf("%s: Verify = %v, want damage that is not the order", name, err)
			}
		}
	}
}

// If keys are out of order and the Comparer is not the default, the error names it.
func TestOrderErrorNamesTheComparer(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{BlockSize: 1}, numbered(500))
	_, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), &table.ReaderOptions{Comparer: internalOrder})
	checkError(t, "NewReader", err, table.ErrOrder, ": the Comparer is "+internalOrder.Name())
	if err := bytewise(build(t, &table.WriterOptions{Comparer: internalOrder, BlockSize: 1}, internalVersions(20))); !errors.Is(err, table.ErrOrder) || strings.Contains(err.Error(), "Comparer") {
		t.Errorf("in the bytewise order: %v, want ErrOrder without the name", err)
	}
}

// internalVersions returns versions n to 1 of the key k.
func internalVersions(n int) (pairs []workload.Pair) {
	for i := range n {
		pairs = append(pairs, workload.Pair{Key: internalKey("k", uint64(n-i), internalkey.Set)})
	}
	return pairs
}

// bytewise verifies a table in the bytewise order.
func bytewise(contents []byte) error {
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(), r.Close())
}

// Lookups and seeks return an error, instead of no entry or a wrong one.
func TestAnyOrderRefusesLookups(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	key := pairs[100].Key
	r := open(t, build(t, nil, pairs), &table.ReaderOptions{Comparer: table.AnyOrder})
	iter := func(o table.IterOptions, move func(it *table.Iter) bool) error {
		it := r.NewIter(&o)
		if move(it) || it.Valid() {
			return fmt.Errorf("moved to %q", it.Key())
		}
		return it.Close()
	}
	seekGE := func(it *table.Iter) bool { return it.SeekGE(key) }
	seekLT := func(it *table.Iter) bool { return it.SeekLT(key) }
	_, _, find := r.Find(key)
	for name, err := range map[string]error{
		"Get": errorOf(r.Get(key)), "AppendGet": errorOf(r.AppendGet(nil, key)), "Find": find,
		"SeekGE":      iter(table.IterOptions{}, seekGE),
		"SeekLT":      iter(table.IterOptions{}, seekLT),
		"Lower First": iter(table.IterOptions{Lower: key}, (*table.Iter).First),
		"Lower Last":  iter(table.IterOptions{Lower: key}, (*table.Iter).Last),
		"Lower Next":  iter(table.IterOptions{Lower: key}, (*table.Iter).Next),
		"Upper First": iter(table.IterOptions{Upper: key}, (*table.Iter).First),
		"Upper Last":  iter(table.IterOptions{Upper: key}, (*table.Iter).Last),
		"Upper Prev":  iter(table.IterOptions{Upper: key}, func(it *table.Iter) bool { return it.Last() || it.Prev() }),
	} {
		if err == nil || errors.Is(err, table.ErrNotFound) || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "AnyOrder does not find keys") {
			t.Errorf("%s = %v, want an error that says that it cannot", name, err)
		}
	}
	it := r.NewIter(nil)
	if it.SeekGE(key) || !it.First() || !bytes.Equal(it.Key(), pairs[0].Key) || it.Close() != nil {
		t.Error("a refused seek keeps First from moving")
	}
	noError(t, r.Close())
	checkError(t, "Get after Close", errorOf(r.Get(key)), table.ErrClosed, "")
	checkError(t, "SeekGE after Close", iter(table.IterOptions{}, seekGE), table.ErrClosed, "")
}

// InternalComparer(AnyOrder) accepts keys that are not internal keys too, and counts deletions.
func TestAnyOrderOfInternalKeys(t *testing.T) {
	deleted := internalkey.Key{UserKey: []byte("b"), Sequence: 3, Kind: internalkey.Delete}.Append(nil)
	pairs := []workload.Pair{{Key: internalKey("z", 1, internalkey.Set)}, {Key: []byte("short")}, {Key: deleted}, {Key: []byte("")}}
	o := &table.WriterOptions{Comparer: table.InternalComparer(table.AnyOrder), FilterPolicy: filter.NewBloom(10), FilterKey: internalkey.UserKey, BlockSize: 1, Properties: true}
	r := open(t, build(t, o, pairs), &table.ReaderOptions{Comparer: o.Comparer, FilterKey: o.FilterKey})
	checkPairs(t, "forward", pairs, forward(t, r.NewIter(nil)))
	noError(t, r.Verify())
	if p, err := r.Properties(); err != nil || p.Deletions != 1 {
		t.Errorf("Properties = %v, %v; want a deletion", p, err)
	}
}

// Read a database's table of unknown order, in the order of the file.
func ExampleAnyOrder() {
	var file bytes.Buffer
	w, err := table.NewWriter(&file, &table.WriterOptions{Comparer: table.AnyOrder})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []string{"pear", "apple", "cherry"} {
		if err := w.Append([]byte(key), []byte("fruit")); err != nil {
			fmt.Println(err)
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}

	r, err := table.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), &table.ReaderOptions{Comparer: table.AnyOrder})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range r.All(nil) {
		fmt.Println(string(e.Key), err)
	}
	_, err = r.Get([]byte("apple"))
	fmt.Println(err)
	// Output:
	// pear <nil>
	// apple <nil>
	// cherry <nil>
	// table: AnyOrder does not find keys: open the table with its own Comparer to look them up
}

// Wherever a function takes a Comparer, nil means the bytewise order, as in the options.
func TestNilComparer(t *testing.T) {
	t.Parallel()
	pairs := internalPairs("ada", "ken")
	contents := build(t, &table.WriterOptions{Comparer: table.InternalComparer(nil)}, pairs)
	r := open(t, contents, &table.ReaderOptions{Comparer: table.InternalComparer(table.BytewiseComparer)})
	level, err := merge.NewLevelIter(table.InternalComparer(nil), []merge.LevelTable{{Smallest: pairs[0].Key, Largest: pairs[1].Key}},
		func(int) (merge.Iterator, error) { return r.NewIter(nil), nil })
	noError(t, err)
	it := merge.NewSnapshotIter(nil, merge.New(table.InternalComparer(nil), level), internalkey.MaxSequence)
	defer it.Close()
	if !it.SeekGE([]byte("b")) || string(it.Key()) != "ken" {
		t.Errorf("SeekGE(b) is at %q, %v; want ken", it.Key(), it.Error())
	}
	if it := merge.New(nil, r.NewIter(nil)); !it.First() {
		t.Errorf("First of a merging iterator = %v", it.Error())
	}
}
