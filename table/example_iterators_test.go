package table_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/sievetable/sievetable/table"
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

func ExampleReader_NewIter() {
	contents := capitals(nil)
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	it := r.NewIter(&table.IterOptions{Lower: []byte("D"), Upper: []byte("T")})
	defer it.Close()
	for country, capital := range it.All() {
		fmt.Printf("%s: %s\n", country, capital)
	}
	fmt.Println(it.Error())
	// Output:
	// Norway: Oslo
	// Peru: Lima
	// <nil>
}

// A loop over the countries from D on, up to but not including T.
func ExampleReader_All() {
	contents := capitals(nil)
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for country, capital := range r.All(&table.IterOptions{Lower: []byte("D"), Upper: []byte("T")}, &err) {
		fmt.Printf("%s: %s\n", country, capital)
	}
	fmt.Println(err)
	// Output:
	// Norway: Oslo
	// Peru: Lima
	// <nil>
}

// SeekLT and Prev iterate backward: over all countries before Peru, the last one first.
func ExampleIter_SeekLT() {
	contents := capitals(nil)
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	it := r.NewIter(nil)
	defer it.Close()
	for ok := it.SeekLT([]byte("Peru")); ok; ok = it.Prev() {
		fmt.Printf("%s\n", it.Key())
	}
	fmt.Println(it.Error())
	// Output:
	// Norway
	// Cuba
	// <nil>
}

// The second of four data blocks is damaged. A loop goes on behind it, and reports what is lost.
func ExampleIterOptions_onDamage() {
	contents := capitals(&table.WriterOptions{BlockSize: 1, Compression: table.NoCompression})
	contents[30] ^= 1
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	it := r.NewIter(&table.IterOptions{OnDamage: func(damage *table.CorruptionError) bool {
		fmt.Printf("%s at %d: no keys > %q and ≤ %q\n", damage.Block, damage.Offset, damage.KeysAfter, damage.KeysUpTo)
		return true
	}})
	defer it.Close()
	for country, capital := range it.All() {
		fmt.Printf("%s: %s\n", country, capital)
	}
	fmt.Println(it.Error())
	// Output:
	// Cuba: Havana
	// data block at 26: no keys > "D" and ≤ "O"
	// Peru: Lima
	// Togo: Lomé
	// <nil>
}

// The newer table is given first. Of keys that are in both tables, its entries come first.
func ExampleNewMergingIter() {
	older := tableOf(table.BytewiseComparer, "old", []byte("a"), []byte("b"), []byte("d"))
	newer := tableOf(table.BytewiseComparer, "new", []byte("b"), []byte("c"))
	it := table.NewMergingIter(table.BytewiseComparer, newer.NewIter(nil), older.NewIter(nil))
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

// The LevelIter opens a table when a move comes to it. Here the tables are in memory. If
// they are files, open opens one, and the Close of its Iterator closes it.
func ExampleNewLevelIter() {
	tables := []table.LevelTable{
		{Name: "000005.ldb", Smallest: []byte("a"), Largest: []byte("c")},
		{Name: "000009.ldb", Smallest: []byte("f"), Largest: []byte("g")},
		{Name: "000007.ldb", Smallest: []byte("k"), Largest: []byte("z")},
	}
	it, err := table.NewLevelIter(table.BytewiseComparer, tables, func(i int) (table.Iterator, error) {
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
	key := func(user string, sequence uint64, kind table.Kind) []byte {
		return table.InternalKey{UserKey: []byte(user), Sequence: sequence, Kind: kind}.Append(nil)
	}
	order := table.InternalComparer(table.BytewiseComparer)
	older := tableOf(order, "old", key("a", 1, table.KindSet), key("b", 2, table.KindSet), key("c", 3, table.KindSet))
	newer := tableOf(order, "new", key("b", 5, table.KindSet), key("c", 6, table.KindDelete), key("d", 7, table.KindSet))
	for _, sequence := range []uint64{4, table.MaxSequence} {
		all := table.NewMergingIter(order, newer.NewIter(nil), older.NewIter(nil))
		it := table.NewSnapshotIter(table.BytewiseComparer, all, sequence)
		for it.Next() {
			fmt.Printf("%s=%s ", it.Key(), it.Value())
		}
		fmt.Println(it.Close())
	}
	// Output:
	// a=old b=old c=old <nil>
	// a=old b=new d=new <nil>
}
