package goleveldb_test

import (
	"bytes"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	table "github.com/sievetable/sievetable/table/goleveldb" // was github.com/syndtr/goleveldb/leveldb/table
)

// A program for goleveldb's tables, with one import changed.
func Example() {
	o := &opt.Options{Filter: filter.NewBloomFilter(10)}
	var file bytes.Buffer
	w := table.NewWriter(&file, o, nil, 0)
	check(w.Append([]byte("Norway"), []byte("Oslo")))
	check(w.Append([]byte("Peru"), []byte("Lima")))
	check(w.Close())

	fd := storage.FileDesc{Type: storage.TypeTable, Num: 1}
	blocks := cache.NewCache(cache.NewLRU(8 << 20)) // for any number of Readers
	r, err := table.NewReader(bytes.NewReader(file.Bytes()), int64(w.BytesLen()), fd, &cache.NamespaceGetter{Cache: blocks, NS: 1}, nil, o)
	check(err)
	defer r.Release()
	capital, err := r.Get([]byte("Peru"), nil)
	fmt.Printf("%s, %v\n", capital, err)
	_, _, err = r.Find([]byte("Atlantis"), true, nil) // the filter answers: no data block is read
	fmt.Println(err)
	// Output:
	// Lima, <nil>
	// leveldb: not found
}

// Entries from N up to but not including P.
func ExampleReader_NewIterator() {
	var file bytes.Buffer
	w := table.NewWriter(&file, nil, nil, 0)
	for _, country := range []string{"Kenya", "Nauru", "Norway", "Peru"} {
		check(w.Append([]byte(country), nil))
	}
	check(w.Close())
	r, err := table.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), storage.FileDesc{}, nil, nil, nil)
	check(err)
	defer r.Release()

	it := r.NewIterator(&util.Range{Start: []byte("N"), Limit: []byte("P")}, nil)
	defer it.Release()
	for it.Next() {
		fmt.Printf("%s\n", it.Key())
	}
	check(it.Error())
	// Output:
	// Nauru
	// Norway
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
