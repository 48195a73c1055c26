package bench

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// prefixTable returns a table of 100,000 keys with 5,000 prefixes, and absent prefixes.
func prefixTable(b *testing.B, o table.WriterOptions) (contents []byte, absent [][]byte) {
	b.Helper()
	var pairs []workload.Pair
	for i := range 5000 {
		absent = append(absent, fmt.Appendf(nil, "%06d/", 2*i+1))
		for j := range 20 {
			pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "%06d/%04d", 2*i, j), Value: bytes.Repeat([]byte("v"), 50)})
		}
	}
	return tabletest.Build(b, &o, pairs), absent
}

// BenchmarkScanAbsentPrefix scans absent prefixes. blocks/scan counts the data blocks read, and rate is the filters'
// false-positive rate for absent keys.
func BenchmarkScanAbsentPrefix(b *testing.B) {
	for _, f := range []struct {
		name string
		o    table.WriterOptions
	}{
		{"blocks", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}},
		{"table", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}},
	} {
		for _, prefixes := range []bool{false, true} {
			o := f.o
			if prefixes {
				o.FilterPrefix = filter.PrefixUntil("/")
			}
			b.Run(fmt.Sprintf("filter=%s/prefixes=%v", f.name, prefixes), func(b *testing.B) { scanAbsentPrefixes(b, o) })
		}
	}
}

func scanAbsentPrefixes(b *testing.B, w table.WriterOptions) {
	contents, absent := prefixTable(b, w)
	var m table.Metrics
	r := tabletest.Open(b, contents, &table.ReaderOptions{Metrics: &m})
	scans := 0
	for b.Loop() {
		prefix := absent[scans%len(absent)]
		it := r.NewIter(&table.IterOptions{Prefix: prefix})
		if it.First() || it.Close() != nil {
			b.Fatalf("prefix %q is found, or cannot be sought", prefix)
		}
		scans++
	}
	b.ReportMetric(float64(m.BlocksRead.Load())/float64(scans), "blocks/scan")
	wrong := 0
	for _, prefix := range absent {
		for j := range 20 {
			may, err := r.MayContain(fmt.Appendf(prefix[:len(prefix):len(prefix)], "%04d", j))
			noError(b, err)
			if may {
				wrong++
			}
		}
	}
	b.ReportMetric(100*float64(wrong)/float64(20*len(absent)), "%rate")
	noError(b, errors.Join(r.FilterErr(), r.Close()))
}
