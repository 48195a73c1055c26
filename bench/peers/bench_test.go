package peers

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	ltable "github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// Each benchmark does the same work on W1 with each engine, on one table in
// memory, compressed, with 10 filter bits per key and no block cache:
//
//	go test -run '^$' -bench . -count 6 ./bench/peers

// w1Set is the workload, made when the first benchmark needs it.
var w1Set = sync.OnceValue(func() workload.Set { return workload.W1(1_000_000) })

// w1Table is the table that both engines read.
var w1Table = sync.OnceValues(func() ([]byte, error) {
	var out bytes.Buffer
	err := engines[0].write(&out, w1Set())
	return out.Bytes(), err
})

// goleveldbOptions are goleveldb's defaults with its filter; its block cache
// belongs to its database, not to its table.
var goleveldbOptions = &opt.Options{Filter: lfilter.NewBloomFilter(10)}

// A reader is one engine's reader of the table.
type reader struct {
	get  func(key []byte) (found bool, err error) // filtered
	next func() (next func() bool)                // of a new iterator
}

var engines = []struct {
	name  string
	write func(w io.Writer, set workload.Set) error
	open  func(contents []byte) (reader, error)
}{
	{"sievetable", writeOurs, openOurs},
	{"goleveldb", writeGoleveldb, openGoleveldb},
}

func writeOurs(out io.Writer, set workload.Set) error {
	w, err := table.NewWriter(out, defaults)
	if err != nil {
		return err
	}
	for i, k := range set.Keys {
		if err := w.Append(k, set.Values[i]); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeGoleveldb(out io.Writer, set workload.Set) error {
	w := ltable.NewWriter(out, goleveldbOptions, nil, 0)
	for i, k := range set.Keys {
		if err := w.Append(k, set.Values[i]); err != nil {
			return err
		}
	}
	return w.Close()
}

func openOurs(contents []byte) (reader, error) {
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	return reader{
		get: func(key []byte) (bool, error) {
			_, err := r.Get(key)
			if errors.Is(err, table.ErrNotFound) {
				return false, nil
			}
			return err == nil, err
		},
		next: func() func() bool { return r.NewIter(nil).Next },
	}, err
}

func openGoleveldb(contents []byte) (reader, error) {
	r, err := goleveldb.Open(contents, goleveldbOptions)
	return reader{
		get:  func(key []byte) (bool, error) { return r.FindFiltered(key) },
		next: func() func() bool { return r.NewIterator(nil, nil).Next },
	}, err
}

// eachEngine runs bench with each engine's reader.
func eachEngine(b *testing.B, bench func(b *testing.B, r reader)) {
	contents, err := w1Table()
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range engines {
		b.Run("engine="+e.name, func(b *testing.B) {
			r, err := e.open(contents)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			bench(b, r)
		})
	}
}

func BenchmarkGetAbsent(b *testing.B) {
	absent := w1Set().Absent
	eachEngine(b, func(b *testing.B, r reader) {
		for i := 0; b.Loop(); i++ {
			if found, err := r.get(absent[i%len(absent)]); found || err != nil {
				b.Fatal(found, err)
			}
		}
	})
}

func BenchmarkGetPresent(b *testing.B) {
	set := w1Set()
	eachEngine(b, func(b *testing.B, r reader) {
		for i := 0; b.Loop(); i++ {
			if found, err := r.get(set.Keys[set.Hits[i%len(set.Hits)]]); !found || err != nil {
				b.Fatal(found, err)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	eachEngine(b, func(b *testing.B, r reader) {
		next := r.next()
		for b.Loop() {
			if !next() {
				next = r.next()
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	set := w1Set()
	for _, e := range engines {
		b.Run("engine="+e.name, func(b *testing.B) {
			b.SetBytes(set.Bytes())
			b.ReportAllocs()
			for b.Loop() {
				if err := e.write(io.Discard, set); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A policy as both engines have it; theirs is ours after adapting.
type policy interface {
	Contains(filter, key []byte) bool
	NewGenerator() lfilter.FilterGenerator
}

// BenchmarkFilter builds and asks filters of 35 keys, the size a table's have.
func BenchmarkFilter(b *testing.B) {
	const perFilter = 35
	set := w1Set()
	for _, p := range []struct {
		name   string
		policy policy
	}{
		{"sievetable", filter.Adapt[lfilter.FilterGenerator, lfilter.Buffer](filter.NewBloom(10))},
		{"goleveldb", lfilter.NewBloomFilter(10)},
	} {
		gen := p.policy.NewGenerator()
		buf := new(util.Buffer)
		for _, k := range set.Keys[:perFilter] {
			gen.Add(k)
		}
		gen.Generate(buf)
		f := bytes.Clone(buf.Bytes())
		b.Run("op=contains/engine="+p.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				p.policy.Contains(f, set.Absent[i%1000])
			}
		})
		b.Run("op=add/engine="+p.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				gen.Add(set.Keys[i%1000])
				if i%perFilter == perFilter-1 {
					buf.Reset()
					gen.Generate(buf)
				}
			}
		})
	}
}
