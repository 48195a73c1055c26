package merge_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// tableOf returns a Reader of a table that has the keys, all with the same value.
func tableOf(c table.Comparer, value string, keys ...[]byte) *table.Reader {
	var out bytes.Buffer
	w, err := table.NewWriter(&out, &table.WriterOptions{Comparer: c})
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range keys {
		if err := w.Append(k, []byte(value)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	r, err := table.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()), &table.ReaderOptions{Comparer: c})
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// The newer table is passed first, so for keys in both tables, its entries come first.
func ExampleNew() {
	older := tableOf(table.BytewiseComparer, "old", []byte("a"), []byte("b"), []byte("d"))
	newer := tableOf(table.BytewiseComparer, "new", []byte("b"), []byte("c"))
	it := merge.New(table.BytewiseComparer, newer.NewIter(nil), older.NewIter(nil))
	defer it.Close()
	for ok := it.SeekGE([]byte("b")); ok; ok = it.Next() {
		fmt.Printf("%s=%s of %d\n", it.Key(), it.Value(), it.Source())
	}
	fmt.Println(it.Error())
	// Output:
	// b=new of 0
	// b=old of 1
	// c=new of 0
	// d=old of 1
	// <nil>
}

// A LevelIter opens a table when a move reaches it. Here the tables are in memory. For files, open would open one,
// and its Iterator's Close would close it.
func ExampleNewLevelIter() {
	tables := []merge.LevelTable{
		{Name: "000005.ldb", Smallest: []byte("a"), Largest: []byte("c")},
		{Name: "000009.ldb", Smallest: []byte("f"), Largest: []byte("g")},
		{Name: "000007.ldb", Smallest: []byte("k"), Largest: []byte("z")},
	}
	it, err := merge.NewLevelIter(table.BytewiseComparer, tables, func(i int) (merge.Iterator, error) {
		t := tables[i]
		fmt.Println("open", t.Name)
		return tableOf(table.BytewiseComparer, "of "+t.Name, t.Smallest, t.Largest).NewIter(nil), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer it.Close()
	for ok := it.SeekGE([]byte("g")); ok; ok = it.Next() {
		fmt.Printf("%s %s\n", it.Key(), it.Value())
	}
	fmt.Println(it.Error())
	// Output:
	// open 000009.ldb
	// g of 000009.ldb
	// open 000007.ldb
	// k of 000007.ldb
	// z of 000007.ldb
	// <nil>
}

// Two snapshots see different versions of the keys of a database.
func ExampleNewSnapshotIter() {
	key := func(user string, sequence uint64, kind internalkey.Kind) []byte {
		return internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: kind}.Append(nil)
	}
	order := table.InternalComparer(table.BytewiseComparer)
	older := tableOf(order, "old", key("a", 1, internalkey.Set), key("b", 2, internalkey.Set), key("c", 3, internalkey.Set))
	newer := tableOf(order, "new", key("b", 5, internalkey.Set), key("c", 6, internalkey.Delete), key("d", 7, internalkey.Set))
	for _, sequence := range []uint64{4, internalkey.MaxSequence} {
		all := merge.New(order, newer.NewIter(nil), older.NewIter(nil))
		it := merge.NewSnapshotIter(table.BytewiseComparer, all, sequence)
		for it.Next() {
			fmt.Printf("%s=%s ", it.Key(), it.Value())
		}
		fmt.Println(it.Close())
	}
	// Output:
	// a=old b=old c=old <nil>
	// a=old b=new d=new <nil>
}

// Sort pairs for a table, and keep the last pair of each key.
func ExampleSorter() {
	s, err := merge.NewSorter(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, pair := range []string{"pear 1", "apple 2", "pear 3", "fig 4"} {
		key, value, _ := strings.Cut(pair, " ")
		if err := s.Append([]byte(key), []byte(value)); err != nil {
			fmt.Println(err)
			return
		}
	}
	for p, err := range s.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if value, err := p.Value(); !p.NextSameKey { // in a program: w.Append(p.Key, value)
			fmt.Printf("%s=%s %v\n", p.Key, value, err)
		}
	}
	// Output:
	// apple=2 <nil>
	// fig=4 <nil>
	// pear=3 <nil>
}
