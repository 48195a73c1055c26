package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	ltable "github.com/syndtr/goleveldb/leveldb/table"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// An opener opens a table, gets a present key, and closes it.
type opener struct {
	name string
	open func(name string, contents, key []byte) error
	took []time.Duration
}

// openers are ours with each kind of source, and goleveldb's. Those of a file open and close it.
func openers() []*opener {
	return []*opener{
		{name: "sievetable/from=reader", open: func(_ string, contents, key []byte) error {
			return openOurs(table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil))(key)
		}},
		{name: "goleveldb/from=reader", open: func(_ string, contents, key []byte) error {
			return openTheirs(bytes.NewReader(contents), int64(len(contents)), key)
		}},
		{name: "sievetable/from=bytes", open: func(_ string, contents, key []byte) error {
			return openOurs(table.NewReader(table.Bytes(contents), int64(len(contents)), nil))(key)
		}},
		{name: "sievetable/from=mapped", open: func(name string, _, key []byte) error {
			return openOurs(table.Open(name, &table.ReaderOptions{Mapped: true}))(key)
		}},
		{name: "sievetable/from=file", open: func(name string, _, key []byte) error { return openOurs(table.Open(name, nil))(key) }},
		{name: "goleveldb/from=file", open: openTheirFile},
	}
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

func openTheirFile(name string, contents, key []byte) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return openTheirs(f, int64(len(contents)), key)
}

// openTheirs opens goleveldb's Reader. Its Find asks the filter, which its Get does not.
func openTheirs(src io.ReaderAt, size int64, key []byte) error {
	r, err := newTheirs(src, size)
	if err != nil {
		return err
	}
	defer r.Release()
	_, _, err = r.Find(key, true, nil)
	return err
}

// newTheirs returns goleveldb's Reader, without a cache. Its Release closes a file.
func newTheirs(src io.ReaderAt, size int64) (*ltable.Reader, error) {
	o := &opt.Options{Filter: lfilter.NewBloomFilter(10)}
	return ltable.NewReader(src, size, storage.FileDesc{Type: storage.TypeTable, Num: 1}, nil, nil, o)
}

// BenchmarkOpenGet opens tables and gets one key of each, ours and goleveldb's in turns, in an order
// that is random: who comes first finds the table in no cache of the processor. The metrics are medians,
// in ns, and how many times as long goleveldb took from the same kind of source.
func BenchmarkOpenGet(b *testing.B) {
	for _, entries := range []int{100, 2000, 20_000, 1_000_000} {
		b.Run(fmt.Sprintf("entries=%d/compression=none", entries), func(b *testing.B) { benchmarkOpenGet(b, entries, table.NoCompression) })
		b.Run(fmt.Sprintf("entries=%d/compression=snappy", entries), func(b *testing.B) { benchmarkOpenGet(b, entries, table.Snappy) })
	}
}

func benchmarkOpenGet(b *testing.B, entries int, codec table.Codec) {
	set := workload.W1(entries)
	name := writeSet(b, set, codec)
	contents, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	all, rng := openers(), rand.New(rand.NewPCG(29, 29))
	for i := 0; b.Loop(); i++ {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, o := range all {
			began := time.Now()
			if err := o.open(name, contents, set.Keys[set.Hits[i%len(set.Hits)]]); err != nil {
				b.Fatal(o.name, err)
			}
			o.took = append(o.took, time.Since(began))
		}
	}
	reportOpeners(b, all)
}

// BenchmarkOpenClose opens and closes 10,000 tables of 100 entries, one after the other, ours and
// goleveldb's in turns. The metrics are medians, in ns a table.
func BenchmarkOpenClose(b *testing.B) {
	set := workload.W1(100)
	contents, err := os.ReadFile(writeSet(b, set, table.Snappy))
	if err != nil {
		b.Fatal(err)
	}
	names := make([]string, 10_000)
	for i := range names {
		names[i] = filepath.Join(b.TempDir(), "t.ldb")
		if err := os.WriteFile(names[i], contents, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	ours, theirs := medianOfTurns(b, names, func(name string) error {
		r, err := table.Open(name, nil)
		if err != nil {
			return err
		}
		return r.Close()
	}, func(name string) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		r, err := newTheirs(f, int64(len(contents)))
		if err != nil {
			return err
		}
		r.Release()
		return nil
	})
	b.ReportMetric(ours, "sievetable-ns")
	b.ReportMetric(theirs, "goleveldb-ns")
	b.ReportMetric(theirs/ours, "x-goleveldb")
}

// medianOfTurns calls ours and theirs with each name, in turns, and returns the medians of the ns that
// they took.
func medianOfTurns(b *testing.B, names []string, ours, theirs func(name string) error) (a, c float64) {
	var took [2][]time.Duration
	for i := 0; b.Loop(); i++ {
		for k, name := range names {
			turn := (i + k) % 2 // who comes first has the names looked up for the other
			for range 2 {
				began := time.Now()
				if err := []func(string) error{ours, theirs}[turn](name); err != nil {
					b.Fatal(err)
				}
				took[turn] = append(took[turn], time.Since(began))
				turn = 1 - turn
			}
		}
	}
	for _, t := range took {
		slices.Sort(t)
	}
	return float64(took[0][len(took[0])/2]), float64(took[1][len(took[1])/2])
}

// writeSet writes a table of the set to a new file, and returns its name.
func writeSet(b *testing.B, set workload.Set, codec table.Codec) (name string) {
	b.Helper()
	name = filepath.Join(b.TempDir(), "t.ldb")
	w, err := table.Create(name, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec})
	if err != nil {
		b.Fatal(err)
	}
	for i, key := range set.Keys {
		if err := w.Append(key, set.Values[i]); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return name
}

// reportOpeners reports each opener's median, and goleveldb's over ours.
func reportOpeners(b *testing.B, all []*opener) {
	median := map[string]float64{}
	for _, o := range all {
		slices.Sort(o.took)
		median[o.name] = float64(o.took[len(o.took)/2])
		b.ReportMetric(median[o.name], o.name+"-ns")
	}
	reader, file := median["goleveldb/from=reader"], median["goleveldb/from=file"]
	b.ReportMetric(reader/median["sievetable/from=reader"], "x-reader")
	b.ReportMetric(reader/median["sievetable/from=bytes"], "x-bytes")
	b.ReportMetric(file/median["sievetable/from=mapped"], "x-mapped")
	b.ReportMetric(file/median["sievetable/from=file"], "x-file")
}
