package bench

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// A source provides a table: from memory, a file, a disk or an object store.
type source struct {
	name  string // in the name of the benchmark
	title string // in the summary
	file  bool
	delay time.Duration // of each read
}

var sources = []source{
	{name: "memory", title: "memory"},
	{name: "file", title: "file", file: true},
	{name: "disk", title: "disk", file: true, delay: 100 * time.Microsecond},
	{name: "object-store", title: "object store", file: true, delay: 20 * time.Millisecond},
}

// asks lists the kinds of lookups.
var asks = []struct {
	name, title string
	look        lookups
}{
	{"absent", "all absent", absent},
	{"half", "half absent", half},
}

// half looks up absent and present keys alternately.
func half(r *table.Reader, set workload.Set) func(i int) error {
	getAbsent, getPresent := absent(r, set), present(r, set)
	return func(i int) error {
		if i%2 == 0 {
			return getAbsent(i / 2)
		}
		return getPresent(i / 2)
	}
}

// BenchmarkLookups looks up keys of a table in memory, in a file, on a disk and in an object store. The last two are
// the file with a delay before each read. The summary repeats its results.
func BenchmarkLookups(b *testing.B) {
	set := w1()
	contents := tableOf(b, set, table.Snappy)
	for _, from := range sources {
		for _, ask := range asks {
			for _, reads := range []string{"unfiltered", "filtered"} {
				id := lookupsID{from.name, ask.name, reads}
				b.Run(id.String(), func(b *testing.B) {
					r, slow, m := openFrom(b, contents, from, reads == "unfiltered")
					took := timeLookups(b, m, ask.look(r, set))
					looked.add(id, tally{m.Lookups.Load(), m.BlocksRead.Load(), took, slow.reads, slow.waited})
				})
			}
		}
	}
}

// openFrom opens the table from the source. It also returns the delayed reader, whose delay may be zero.
func openFrom(b *testing.B, contents []byte, from source, ignoreFilter bool) (*table.Reader, *slowReaderAt, *table.Metrics) {
	b.Helper()
	var in io.ReaderAt = bytes.NewReader(contents)
	if from.file {
		in = openFile(b, contents)
	}
	slow := &slowReaderAt{ReaderAt: in, delay: from.delay}
	if from.delay > 0 {
		in = slow
	}
	m := &table.Metrics{}
	r, err := table.NewReader(in, int64(len(contents)), &table.ReaderOptions{IgnoreFilter: ignoreFilter, Metrics: m})
	noError(b, err)
	return r, slow, m
}

// openFile returns a file with the contents, which is removed when the benchmark ends.
func openFile(b *testing.B, contents []byte) *os.File {
	b.Helper()
	name := filepath.Join(b.TempDir(), "table.ldb")
	noError(b, os.WriteFile(name, contents, 0o666))
	f, err := os.Open(name)
	noError(b, err)
	b.Cleanup(func() { f.Close() })
	return f
}

// Figures from shorter runs would be unreliable.
const (
	fewestBlocks = 100
	shortest     = 100 * time.Millisecond
)

// timeLookups looks up keys until -benchtime has passed and, without -short, there are enough reads for reliable
// figures. It returns the elapsed time.
func timeLookups(b *testing.B, m *table.Metrics, look func(i int) error) time.Duration {
	i, start := 0, time.Now()
	next := func() {
		if err := look(i); err != nil {
			b.Fatal(err)
		}
		i++
	}
	for b.Loop() {
		next()
	}
	for !testing.Short() && (i%fewestBlocks > 0 || m.BlocksRead.Load() < fewestBlocks || time.Since(start) < shortest) {
		next()
	}
	took := time.Since(start)
	b.ReportMetric(float64(took.Nanoseconds())/float64(i), "ns/op")
	b.ReportMetric(float64(i)/took.Seconds(), "lookups/s")
	b.ReportMetric(float64(m.BlocksRead.Load())/float64(i), "blocks/lookup")
	return took
}
