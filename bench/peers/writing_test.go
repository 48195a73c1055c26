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
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkWrite writes tables of W1 and W2 to io.Discard, ours and goleveldb's in turns. Metrics are per table. To
// compare on one core, use -cpu 1.
func BenchmarkWrite(b *testing.B) {
	w2, err := workload.W2()
	noError(b, err)
	for i, set := range []workload.Set{workload.W1(long.Size(10_000, 100_000)), w2} {
		for _, codec := range []table.Codec{table.NoCompression, table.Snappy} {
			b.Run(fmt.Sprintf("W%d/snappy=%v", i+1, codec == table.Snappy), func(b *testing.B) {
				pairs := set.Pairs()
				ours := &contender{name: "sievetable", do: func(int) error { return writeOurs(pairs, codec) }}
				theirs := &contender{name: "goleveldb", do: func(int) error { return writeTheirs(pairs, codec) }}
				inTurns(b, 1, 1, ours, theirs)
				reportRatio(b, "goleveldb", theirs, ours)
			})
		}
	}
}

func writeOurs(pairs []workload.Pair, codec table.Codec) error {
	w, err := table.NewWriter(io.Discard, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec})
	if err != nil {
		return err
	}
	return workload.WriteAll(w, pairs)
}

// buffers is a pool like the one that goleveldb passes to its Writers.
var buffers = util.NewBufferPool(opt.DefaultBlockSize + 5)

func writeTheirs(pairs []workload.Pair, codec table.Codec) error {
	o := &opt.Options{Filter: lfilter.NewBloomFilter(10), Compression: opt.NoCompression}
	if codec == table.Snappy {
		o.Compression = opt.SnappyCompression
	}
	return workload.WriteAll(ltable.NewWriter(io.Discard, o, buffers, 0), pairs)
}
