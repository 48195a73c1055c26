package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A table in whatever order opens, is gone through in the order of the file, and
// verifies. In the bytewise order it does not, and the error says why.
func TestAnyOrderGoesThroughAnyTable(t *testing.T) {
	t.Parallel()
	shuffled := numbered(500)
	rand.New(rand.NewSource(1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	reversed := numbered(500)
	slices.Reverse(reversed)
	for name, pairs := range map[string][]workload.Pair{"shuffled": shuffled, "reversed": reversed, "in order": numbered(500), "none": nil} {
		for _, size := range []int{1, 500, 1 << 20} {
			o := &table.WriterOptions{Comparer: table.AnyOrder, FilterPolicy: filter.NewBloom(10), BlockSize: size, Properties: true}
			contents := build(t, o, pairs)
			r := open(t, contents, &table.ReaderOptions{Comparer: table.AnyOrder, Cache: table.NewCache(1 << 20)})
			if diff := diffPairs(pairs, forward(t, r.NewIter(nil))); diff != "" {
				t.Errorf("%s, forward (-want +got):\n%s", name, diff)
			}
			if diff := diffPairs(pairs, backward(t, r.NewIter(nil))); diff != "" {
				t.Errorf("%s, backward (-want +got):\n%s", name, diff)
			}
			if err := r.Verify(); err != nil {
				t.Errorf("%s: Verify = %v", name, err)
			}
			if p, err := r.Properties(); err != nil || p.Entries != uint64(len(pairs)) {
				t.Errorf("%s: Properties = %v, %v", name, p, err)
			}
			if got, want := bytewise(contents), name == "shuffled" || name == "reversed"; errors.Is(got, table.ErrOrder) != want || errors.Is(got, table.ErrCorrupt) != want {
				t.Errorf("%s, blocks of %d, in the bytewise order: %v; want ErrOrder: %v", name, size, got, want)
			}
		}
	}
}

// bytewise verifies a table in the bytewise order.
func bytewise(contents []byte) error {
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(), r.Close())
}

// Blocks of more entries than are held at once are gone through too.
func TestAnyOrderOfVeryManyEntries(t *testing.T) {
	t.Parallel()
	pairs := numbered(20_000)
	slices.Reverse(pairs)
	r := open(t, build(t, &table.WriterOptions{Comparer: table.AnyOrder, BlockSize: 16 << 20}, pairs), &table.ReaderOptions{Comparer: table.AnyOrder})
	if diff := diffPairs(pairs, forward(t, r.NewIter(nil))); diff != "" {
		t.Errorf("forward (-want +got):\n%s", diff)
	}
	if diff := diffPairs(pairs, backward(t, r.NewIter(nil))); diff != "" {
		t.Errorf("backward (-want +got):\n%s", diff)
	}
}

// Damage is found as in any order.
func TestAnyOrderFindsDamage(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Comparer: table.AnyOrder}, numbered(500))
	contents[10] ^= 1
	r := open(t, contents, &table.ReaderOptions{Comparer: table.AnyOrder})
	if err := r.Verify(); !errors.Is(err, table.ErrCorrupt) || errors.Is(err, table.ErrOrder) {
		t.Errorf("Verify = %v, want damage that is not the order", err)
	}
}

// What looks for a key says that it cannot, instead of finding nothing or something
// else.
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
	_, get := r.Get(key)
	_, appendGet := r.AppendGet(nil, key)
	_, _, find := r.Find(key)
	for name, err := range map[string]error{
		"Get": get, "AppendGet": appendGet, "Find": find,
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
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get(key); !errors.Is(err, table.ErrClosed) {
		t.Errorf("Get after Close = %v", err)
	}
	if err := iter(table.IterOptions{}, seekGE); !errors.Is(err, table.ErrClosed) {
		t.Errorf("SeekGE after Close = %v", err)
	}
}

// Of internal keys, AnyOrder takes those that are none too, and deletions are counted.
func TestAnyOrderOfInternalKeys(t *testing.T) {
	deleted := table.InternalKey{UserKey: []byte("b"), Sequence: 3, Kind: table.KindDelete}.Append(nil)
	pairs := []workload.Pair{{Key: internal("z", 1)}, {Key: []byte("short")}, {Key: deleted}, {Key: []byte("")}}
	o := &table.WriterOptions{Comparer: table.InternalComparer(table.AnyOrder), FilterPolicy: filter.NewBloom(10), FilterKey: table.InternalFilterKey, BlockSize: 1, Properties: true}
	r := open(t, build(t, o, pairs), &table.ReaderOptions{Comparer: o.Comparer, FilterKey: o.FilterKey})
	if diff := diffPairs(pairs, forward(t, r.NewIter(nil))); diff != "" {
		t.Errorf("forward (-want +got):\n%s", diff)
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	if p, err := r.Properties(); err != nil || p.Deletions != 1 {
		t.Errorf("Properties = %v, %v; want a deletion", p, err)
	}
}

// A table of a database whose order is not known is read in the order of its file.
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

// Where a Comparer is wanted, nil is the bytewise order, as in the options.
func TestNilComparer(t *testing.T) {
	t.Parallel()
	pairs := internalPairs("ada", "ken")
	contents := build(t, &table.WriterOptions{Comparer: table.InternalComparer(nil)}, pairs)
	r := open(t, contents, &table.ReaderOptions{Comparer: table.InternalComparer(table.BytewiseComparer)})
	level, err := merge.NewLevelIter(table.InternalComparer(nil), []merge.LevelTable{{Smallest: pairs[0].Key, Largest: pairs[1].Key}},
		func(int) (merge.Iterator, error) { return r.NewIter(nil), nil })
	if err != nil {
		t.Fatal(err)
	}
	it := merge.NewSnapshotIter(nil, merge.New(table.InternalComparer(nil), level), table.MaxSequence)
	defer it.Close()
	if !it.SeekGE([]byte("b")) || string(it.Key()) != "ken" {
		t.Errorf("SeekGE(b) is at %q, %v; want ken", it.Key(), it.Error())
	}
	if it := merge.New(nil, r.NewIter(nil)); !it.First() {
		t.Errorf("First of a merging iterator = %v", it.Error())
	}
}
