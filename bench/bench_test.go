package bench

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

var noError = errtest.NoError

// entries returns the size of W1 and W3.
func entries() int { return long.Size(20_000, 1_000_000) }

// w1 is generated once, when first used.
var w1 = sync.OnceValue(func() workload.Set { return workload.W1(entries()) })

var workloads = []struct {
	name string
	set  func() (workload.Set, error)
}{
	{"W1", func() (workload.Set, error) { return w1(), nil }},
	{"W2", sync.OnceValues(workload.W2)},
}

var codecs = []struct {
	name  string
	codec table.Codec
}{
	{"none", table.NoCompression},
	{"snappy", table.Snappy},
}

func build(b testing.TB, set workload.Set, codec table.Codec) []byte {
	b.Helper()
	return tabletest.Build(b, options(codec), set.Pairs())
}

func options(codec table.Codec) *table.WriterOptions {
	return &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec}
}

// eachTable runs bench on the table of each workload with each codec.
func eachTable(b *testing.B, bench func(b *testing.B, set workload.Set, contents []byte)) {
	for _, w := range workloads {
		for _, c := range codecs {
			b.Run(fmt.Sprintf("data=%s/codec=%s", w.name, c.name), func(b *testing.B) {
				set, err := w.set()
				noError(b, err)
				bench(b, set, tableOf(b, set, c.codec))
			})
		}
	}
}

// A shape identifies a table by the address of its first key and by its codec.
type shape struct {
	keys  *[]byte
	codec table.Codec
}

// tables contains the results of tableOf.
var tables = map[shape][]byte{}

// tableOf returns the set's table. It writes each table once.
func tableOf(b *testing.B, set workload.Set, codec table.Codec) []byte {
	b.Helper()
	id := shape{&set.Keys[0], codec}
	if tables[id] == nil {
		tables[id] = build(b, set, codec)
	}
	return tables[id]
}

// A lookups function returns a function that looks up the i-th key of a set.
type lookups func(r *table.Reader, set workload.Set) func(i int) error

func absent(r *table.Reader, set workload.Set) func(i int) error {
	return func(i int) error {
		if _, err := r.Get(set.Absent[i%len(set.Absent)]); !errors.Is(err, table.ErrNotFound) {
			return fmt.Errorf("absent key: %v", err)
		}
		return nil
	}
}

// present looks up present keys in random order.
func present(r *table.Reader, set workload.Set) func(i int) error {
	return func(i int) error {
		_, err := r.Get(set.Keys[set.Hits[i%len(set.Hits)]])
		return err
	}
}

// withAndWithout runs the lookups with the filter and without it.
func withAndWithout(b *testing.B, set workload.Set, contents []byte, look lookups) {
	b.Run("reads=unfiltered", func(b *testing.B) { lookUp(b, set, contents, true, look) })
	b.Run("reads=filtered", func(b *testing.B) { lookUp(b, set, contents, false, look) })
}

func lookUp(b *testing.B, set workload.Set, contents []byte, ignoreFilter bool, look lookups) {
	var m table.Metrics
	r := tabletest.Open(b, contents, &table.ReaderOptions{IgnoreFilter: ignoreFilter, Metrics: &m})
	loop(b, look(r, set))
	report(b, &m)
}

// loop benchmarks do, which performs the i-th operation.
func loop(b *testing.B, do func(i int) error) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := do(i); err != nil {
			b.Fatal(err)
		}
	}
}

// report reports reads, false positives and saved reads. Without the filter, each lookup within the table's key
// range reads a block.
func report(b *testing.B, m *table.Metrics) {
	n := float64(m.Lookups.Load())
	b.ReportMetric(float64(m.BlocksRead.Load())/n, "blocks/lookup")
	b.ReportMetric(float64(m.BytesRead.Load())/n, "bytes/lookup")
	b.ReportMetric(float64(m.FilterFalsePositives.Load())/n, "falsepos/lookup")
	if q := m.FilterChecks.Load(); q > 0 {
		b.ReportMetric(100*float64(m.FilterNegatives.Load())/float64(q), "%reads-saved")
	}
}

// BenchmarkGetAbsent looks up absent keys, which the filter rules out.
func BenchmarkGetAbsent(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		withAndWithout(b, set, contents, absent)
	})
}

// BenchmarkGetPresent looks up present keys in random order. The filter saves nothing here, so the difference is
// its cost.
func BenchmarkGetPresent(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		withAndWithout(b, set, contents, present)
	})
}

// BenchmarkAppendGetPresent is like BenchmarkGetPresent, with the caller's buffer.
func BenchmarkAppendGetPresent(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		var dst []byte
		lookUp(b, set, contents, false, func(r *table.Reader, set workload.Set) func(i int) error {
			return func(i int) (err error) {
				dst, err = r.AppendGet(dst[:0], set.Keys[set.Hits[i%len(set.Hits)]])
				return err
			}
		})
	})
}

// BenchmarkScan iterates over all entries. An operation is one entry.
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
				it := tabletest.Open(b, contents, nil).NewIter(nil)
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
