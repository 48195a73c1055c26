package table_test

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/table"
)

func ExampleReader_NewIter() {
	contents := capitals(nil)
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	it := r.NewIter(&table.IterOptions{Lower: []byte("D"), Upper: []byte("T")})
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		fmt.Printf("%s: %s\n", it.Key(), it.Value())
	}
	fmt.Println(it.Error())
	// Output:
	// Norway: Oslo
	// Peru: Lima
	// <nil>
}

// Iterate over the countries from D up to but not including T.
func ExampleReader_All() {
	contents := capitals(nil)
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range r.All(&table.IterOptions{Lower: []byte("D"), Upper: []byte("T")}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s\n", e.Key, e.Value)
	}
	// Output:
	// Norway: Oslo
	// Peru: Lima
}

// SeekLT and Prev iterate backwards: over all countries before Peru, the last one first.
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

// The second of four data blocks is corrupt. The loop continues after it, and reports the lost keys.
func ExampleIterOptions_onLoss() {
	contents := capitals(&table.WriterOptions{BlockSize: 1, Compression: table.NoCompression})
	contents[30] ^= 1
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	onLoss := func(l table.Loss) bool {
		fmt.Printf("data block at %d: no keys from %q to %q\n", l.Offset, l.From, l.To)
		return true
	}
	for e, err := range r.All(&table.IterOptions{OnLoss: onLoss}) {
		fmt.Printf("%s: %s, %v\n", e.Key, e.Value, err)
	}
	// Output:
	// Cuba: Havana, <nil>
	// data block at 26: no keys from "D" to "O"
	// Peru: Lima, <nil>
	// Togo: Lomé, <nil>
}
