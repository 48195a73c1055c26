package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// workloads are made once, when the first benchmark needs them.
var workloads = []struct {
	name string
	set  func() (workload.Set, error)
}{
	{"W1-1M-entries", sync.OnceValues(func() (workload.Set, error) { return workload.W1(1_000_000), nil })},
	{"W2-Go-source", sync.OnceValues(workload.W2)},
}

var codecs = []struct {
	name  string
	codec table.Codec
}{
	{"none", table.NoCompression},
	{"snappy", table.Snappy},
}

// write writes the set's table to w.
func write(b testing.TB, w io.Writer, set workload.Set, codec table.Codec) {
	b.Helper()
	writeTable(b, w, set, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec})
}

// writeTable is write with other options.
func writeTable(b testing.TB, w io.Writer, set workload.Set, o *table.WriterOptions) {
	b.Helper()
	t, err := table.NewWriter(w, o)
	if err != nil {
		b.Fatal(err)
	}
	for i, k := range set.Keys {
		if err := t.Append(k, set.Values[i]); err != nil {
			b.Fatal(err)
		}
	}
	if err := t.Close(); err != nil {
		b.Fatal(err)
	}
}

// eachShape runs bench for each workload with each codec.
func eachShape(b *testing.B, bench func(b *testing.B, set workload.Set, codec table.Codec)) {
	for _, w := range workloads {
		for _, c := range codecs {
			b.Run(fmt.Sprintf("data=%s/codec=%s", w.name, c.name), func(b *testing.B) {
				set, err := w.set()
				if err != nil {
					b.Fatal(err)
				}
				bench(b, set, c.codec)
			})
		}
	}
}

// eachTable runs bench on the table of each workload with each codec.
func eachTable(b *testing.B, bench func(b *testing.B, set workload.Set, contents []byte)) {
	eachShape(b, func(b *testing.B, set workload.Set, codec table.Codec) {
		var out bytes.Buffer
		write(b, &out, set, codec)
		bench(b, set, out.Bytes())
	})
}

func open(b testing.TB, contents []byte, o *table.ReaderOptions) *table.Reader {
	b.Helper()
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), o)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// A lookup is one call of a benchmark's loop: it looks up the i-th key.
type lookup func(r *table.Reader, i int) error

// withAndWithout runs the lookups with the filter and without it.
func withAndWithout(b *testing.B, contents []byte, look lookup) {
	for _, ignore := range []bool{true, false} {
		name := "reads=filtered"
		if ignore {
			name = "reads=unfiltered"
		}
		b.Run(name, func(b *testing.B) {
			var m table.Metrics
			r := open(b, contents, &table.ReaderOptions{IgnoreFilter: ignore, Metrics: &m})
			b.ReportAllocs()
			i := 0
			for ; b.Loop(); i++ {
				if err := look(r, i); err != nil {
					b.Fatal(err)
				}
			}
			report(b, &m)
		})
	}
}

// report adds what lookups cost beside time. Without the filter each question
// would have been a read, as each lookup within the table's keys is.
func report(b *testing.B, m *table.Metrics) {
	n := float64(m.Lookups.Load())
	b.ReportMetric(float64(m.DataBlocks.Load())/n, "blocks/lookup")
	b.ReportMetric(float64(m.BytesRead.Load())/n, "bytes/lookup")
	b.ReportMetric(float64(m.FilterFalsePositives.Load())/n, "falsepos/lookup")
	if q := m.FilterChecks.Load(); q > 0 {
		b.ReportMetric(100*float64(m.FilterNegatives.Load())/float64(q), "%reads-saved")
	}
}

// BenchmarkGetAbsent looks up keys that are not there: what the filter is for.
func BenchmarkGetAbsent(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		withAndWithout(b, contents, func(r *table.Reader, i int) error {
			if _, err := r.Get(set.Absent[i%len(set.Absent)]); !errors.Is(err, table.ErrNotFound) {
				return fmt.Errorf("absent key: %w", err)
			}
			return nil
		})
	})
}

// BenchmarkGetPresent looks up keys that are there, in random order: the filter
// saves nothing, and must not cost much.
func BenchmarkGetPresent(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		withAndWithout(b, contents, func(r *table.Reader, i int) error {
			_, err := r.Get(set.Keys[set.Hits[i%len(set.Hits)]])
			return err
		})
	})
}

// BenchmarkAppendGetPresent is GetPresent into memory of the caller's.
func BenchmarkAppendGetPresent(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		var dst []byte
		withAndWithout(b, contents, func(r *table.Reader, i int) (err error) {
			dst, err = r.AppendGet(dst[:0], set.Keys[set.Hits[i%len(set.Hits)]])
			return err
		})
	})
}

// BenchmarkScan moves over all entries, one an operation.
func BenchmarkScan(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		for _, dir := range []struct {
			name        string
			first, next func(*table.Iter) bool
		}{
			{"forward", (*table.Iter).First, (*table.Iter).Next},
			{"backward", (*table.Iter).Last, (*table.Iter).Prev},
		} {
			b.Run("dir="+dir.name, func(b *testing.B) {
				it := open(b, contents, nil).NewIter(nil)
				b.ReportAllocs()
				for b.Loop() {
					if !dir.next(it) && !dir.first(it) {
						b.Fatal(it.Error())
					}
				}
			})
		}
	})
}

// BenchmarkWrite writes the whole table to a sink that discards it. MB/s are of
// keys and values.
func BenchmarkWrite(b *testing.B) {
	eachShape(b, func(b *testing.B, set workload.Set, codec table.Codec) {
		b.SetBytes(set.Bytes())
		b.ReportAllocs()
		for b.Loop() {
			write(b, io.Discard, set, codec)
		}
	})
}

// BenchmarkOpen opens the table, which reads index and filter.
func BenchmarkOpen(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		b.ReportAllocs()
		for b.Loop() {
			open(b, contents, nil)
		}
	})
}
