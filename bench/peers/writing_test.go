package main

import (
	"fmt"
	"io"
	"testing"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	ltable "github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkWrite writes tables of W1 and W2 to nowhere, ours and goleveldb's in turns. The metrics
// are medians, in ns a table, and goleveldb's over ours. To compare one core, use -cpu 1.
func BenchmarkWrite(b *testing.B) {
	w2, err := workload.W2()
	if err != nil {
		b.Fatal(err)
	}
	for name, set := range map[string]workload.Set{"W1": workload.W1(100_000), "W2": w2} {
		for _, codec := range []table.Codec{table.NoCompression, table.Snappy} {
			b.Run(fmt.Sprintf("%s/compression=%d", name, codec.ID()), func(b *testing.B) {
				ours, theirs := medianOfTurns(b, []string{""}, func(string) error { return writeOurs(set, codec) }, func(string) error { return writeTheirs(set, codec) })
				b.ReportMetric(ours, "sievetable-ns")
				b.ReportMetric(theirs, "goleveldb-ns")
				b.ReportMetric(theirs/ours, "x-goleveldb")
			})
		}
	}
}

func writeOurs(set workload.Set, codec table.Codec) error {
	w, err := table.NewWriter(io.Discard, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec})
	if err != nil {
		return err
	}
	for i, key := range set.Keys {
		if err := w.Append(key, set.Values[i]); err != nil {
			return err
		}
	}
	return w.Close()
}

// buffers is the pool that goleveldb's engine gives to its Writers.
var buffers = util.NewBufferPool(opt.DefaultBlockSize + 5)

func writeTheirs(set workload.Set, codec table.Codec) error {
	o := &opt.Options{Filter: lfilter.NewBloomFilter(10), Compression: opt.NoCompression}
	if codec == table.Snappy {
		o.Compression = opt.SnappyCompression
	}
	w := ltable.NewWriter(io.Discard, o, buffers, 0)
	for i, key := range set.Keys {
		if err := w.Append(key, set.Values[i]); err != nil {
			return err
		}
	}
	return w.Close()
}
