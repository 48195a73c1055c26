package table_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkWriter writes tables to a sink that discards them. MB/s are of keys and
// values.
func BenchmarkWriter(b *testing.B) {
	pairs := w1Pairs(200_000)
	size := 0
	for _, p := range pairs {
		size += len(p.Key) + len(p.Value)
	}
	for _, codec := range []table.Codec{table.NoCompression, table.Snappy} {
		for _, concurrency := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("codec=%d/concurrency=%d", codec.ID(), concurrency), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					writeAll(b, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec, Concurrency: concurrency}, pairs)
				}
			})
		}
	}
}

func writeAll(b *testing.B, o *table.WriterOptions, pairs []workload.Pair) {
	w, err := table.NewWriter(io.Discard, o)
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range pairs {
		if err := w.Append(p.Key, p.Value); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
