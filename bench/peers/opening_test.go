package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"testing"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	ltable "github.com/syndtr/goleveldb/leveldb/table"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// openers returns contenders that open a table, get a present key, and close the table. Their names are pairs of
// engine and source. name is a file with the contents. Contenders that read the file open and close it each time.
func openers(name string, contents []byte, key func(i int) []byte) map[string]*contender {
	size := int64(len(contents))
	all := map[string]*contender{}
	add := func(name string, do func(key []byte) error) {
		all[name] = &contender{name: name, do: func(i int) error { return do(key(i)) }}
	}
	add("sievetable/from=reader", func(key []byte) error { return openOurs(table.NewReader(bytes.NewReader(contents), size, nil))(key) })
	add("goleveldb/from=reader", func(key []byte) error { return openTheirs(bytes.NewReader(contents), size, key) })
	add("sievetable/from=bytes", func(key []byte) error { return openOurs(table.NewReader(table.Bytes(contents), size, nil))(key) })
	add("sievetable/from=mapped", func(key []byte) error {
		return openOurs(table.Open(name, &table.ReaderOptions{Mapped: true}))(key)
	})
	add("sievetable/from=file", func(key []byte) error { return openOurs(table.Open(name, nil))(key) })
	add("goleveldb/from=file", func(key []byte) error { return openTheirFile(name, size, key) })
	return all
}

func openOurs(r *table.Reader, err error) func(key []byte) error {
	return func(key []byte) error {
		if err != nil {
			return err
		}
		_, err := r.Get(key)
		return errors.Join(err, r.Close())
	}
}

func openTheirFile(name string, size int64, key []byte) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return openTheirs(f, size, key)
}

// openTheirs gets a key from goleveldb's Reader. It calls Find, since Get does not check the filter.
func openTheirs(src io.ReaderAt, size int64, key []byte) error {
	r, err := newTheirs(src, size)
	if err != nil {
		return err
	}
	defer r.Release()
	_, _, err = r.Find(key, true, nil)
	return err
}

// newTheirs returns goleveldb's Reader, without a cache. Release closes src if it is a file.
func newTheirs(src io.ReaderAt, size int64) (*ltable.Reader, error) {
	o := &opt.Options{Filter: lfilter.NewBloomFilter(10)}
	return ltable.NewReader(src, size, storage.FileDesc{Type: storage.TypeTable, Num: 1}, nil, nil, o)
}

// BenchmarkOpenGet opens tables and gets one key of each, ours and goleveldb's in turns. x- is the ratio of
// goleveldb's time to ours, for the same kind of source.
func BenchmarkOpenGet(b *testing.B) {
	for _, entries := range []int{100, 2000, 20_000, 1_000_000}[:long.Size(3, 4)] {
		b.Run(fmt.Sprintf("entries=%d/compression=none", entries), func(b *testing.B) { benchmarkOpenGet(b, entries, table.NoCompression) })
		b.Run(fmt.Sprintf("entries=%d/compression=snappy", entries), func(b *testing.B) { benchmarkOpenGet(b, entries, table.Snappy) })
	}
}

func benchmarkOpenGet(b *testing.B, entries int, codec table.Codec) {
	set := workload.W1(entries)
	contents := tableOf(b, set, codec)
	all := openers(file(b, contents), contents, func(i int) []byte { return set.Keys[set.Hits[i%len(set.Hits)]] })
	inTurns(b, 1, 1, slices.Collect(maps.Values(all))...)
	reader, file := all["goleveldb/from=reader"], all["goleveldb/from=file"]
	reportRatio(b, "reader", reader, all["sievetable/from=reader"])
	reportRatio(b, "bytes", reader, all["sievetable/from=bytes"])
	reportRatio(b, "mapped", file, all["sievetable/from=mapped"])
	reportRatio(b, "file", file, all["sievetable/from=file"])
}

// BenchmarkOpenClose opens and closes 10,000 tables of 100 entries, ours and goleveldb's in turns. Metrics are per
// table.
func BenchmarkOpenClose(b *testing.B) {
	contents := tableOf(b, workload.W1(100), table.Snappy)
	names := make([]string, long.Size(100, 10_000))
	for i := range names {
		names[i] = file(b, contents)
	}
	ours := &contender{name: "sievetable", do: func(i int) error {
		r, err := table.Open(names[i%len(names)], nil)
		if err != nil {
			return err
		}
		return r.Close()
	}}
	theirs := &contender{name: "goleveldb", do: func(i int) error {
		f, err := os.Open(names[i%len(names)])
		if err != nil {
			return err
		}
		r, err := newTheirs(f, int64(len(contents)))
		if err != nil {
			return err
		}
		r.Release()
		return nil
	}}
	inTurns(b, len(names), 1, ours, theirs)
	reportRatio(b, "goleveldb", theirs, ours)
}

// tableOf returns a table of the set.
func tableOf(b *testing.B, set workload.Set, codec table.Codec) []byte {
	b.Helper()
	return tabletest.Build(b, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec}, set.Pairs())
}
