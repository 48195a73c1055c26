package main

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	"github.com/greatroar/blobloom"
	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/long"
)

// A livingFilter is a filter that accepts new keys while being queried.
type livingFilter struct {
	sequential  bool // not safe for concurrent use
	add         func(key []byte)
	addIfAbsent func(key []byte) bool // nil: there is no such method
	contains    func(key []byte) bool
	bits        func() float64
}

// livingFilters lists the filters to compare. The first two have 10 bits per key, and the same k. The others are as
// large as their packages choose for a false-positive rate of 1 %. Since blobloom's is then 0.64 %, one of ours has
// that rate, too. The growing filter does not know the number of keys.
var livingFilters = []struct {
	name string
	make func(b *testing.B, n int) livingFilter
}{
	{"dynamic", func(b *testing.B, n int) livingFilter {
		f, err := filter.NewDynamicBloom(uint64(n), 10)
		noError(b, err)
		return livingFilter{false, f.Add, f.AddIfAbsent, f.Contains, func() float64 { return float64(8*len(f.Bytes()) - 8) }}
	}},
	{"bits-and-blooms", func(_ *testing.B, n int) livingFilter {
		f := bitsbloom.New(uint(10*n), 6)
		return livingFilter{
			sequential:  true,
			add:         func(key []byte) { f.Add(key) },
			addIfAbsent: func(key []byte) bool { return !f.TestAndAdd(key) },
			contains:    f.Test,
			bits:        func() float64 { return float64(f.Cap()) },
		}
	}},
	{"blocked", func(b *testing.B, n int) livingFilter { return newBlocked(b, n, 0.01) }},
	{"blocked-0.64%", func(b *testing.B, n int) livingFilter { return newBlocked(b, n, 0.0064) }},
	{"growing", func(b *testing.B, _ int) livingFilter {
		f, err := blocked.NewGrowing(0, 0.01)
		noError(b, err)
		added := func(absent bool, err error) bool {
			if err != nil {
				b.Error(err)
			}
			return absent
		}
		addIfAbsent := func(key []byte) bool { return added(f.AddIfAbsent(key)) }
		return livingFilter{false, func(key []byte) { addIfAbsent(key) }, addIfAbsent, f.Contains, func() float64 { return float64(8 * f.Size()) }}
	}},
	{"blobloom", func(_ *testing.B, n int) livingFilter {
		bits, hashes := blobloomSize(n)
		f := blobloom.New(bits, hashes)
		return livingFilter{
			sequential: true,
			add:        func(key []byte) { f.Add(xxh3.Hash(key)) },
			contains:   func(key []byte) bool { return f.Has(xxh3.Hash(key)) },
			bits:       func() float64 { return float64(bits) },
		}
	}},
	{"blobloom-sync", func(_ *testing.B, n int) livingFilter {
		bits, hashes := blobloomSize(n)
		f := blobloom.NewSync(bits, hashes)
		return livingFilter{
			add:      func(key []byte) { f.Add(xxh3.Hash(key)) },
			contains: func(key []byte) bool { return f.Has(xxh3.Hash(key)) },
			bits:     func() float64 { return float64(bits) },
		}
	}},
}

func newBlocked(b *testing.B, n int, rate float64) livingFilter {
	f, err := blocked.New(uint64(n), rate)
	noError(b, err)
	return livingFilter{false, f.Add, f.AddIfAbsent, f.Contains, func() float64 { return float64(8 * f.Size()) }}
}

func blobloomSize(n int) (bits uint64, hashes int) {
	return blobloom.Optimize(blobloom.Config{Capacity: uint64(n), FPRate: 0.01})
}

// BenchmarkLiving compares sievetable's filters that can grow while in use with those of other packages. -cpu sets
// the number of goroutines. The filter of bits-and-blooms and blobloom's Filter use one goroutine, since they are
// not safe for concurrent use. An operation is one key of 16 bytes. Keys are added to empty filters until these are
// full.
//
//	go test -run '^$' -bench Living -cpu 1,2 ./bench/peers
func BenchmarkLiving(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000, 10_000_000}[:long.Size(1, 3)] {
		for _, f := range livingFilters {
			b.Run(fmt.Sprintf("n=%d/%s", n, f.name), func(b *testing.B) {
				benchmarkLiving(b, n, func(b *testing.B) livingFilter { return f.make(b, n) })
			})
		}
	}
}

func benchmarkLiving(b *testing.B, n int, empty func(b *testing.B) livingFilter) {
	full := empty(b)
	goThrough(1, 0, n, full.add)
	measured := func(name string, measure func(b *testing.B, goroutines int)) {
		b.Run(name, func(b *testing.B) {
			goroutines := runtime.GOMAXPROCS(0)
			if full.sequential {
				goroutines = 1
			}
			b.ReportAllocs()
			measure(b, goroutines)
		})
	}
	measured("add", func(b *testing.B, goroutines int) {
		fillAgainAndAgain(b, goroutines, n, func() func(key []byte) { return empty(b).add })
	})
	if full.addIfAbsent != nil {
		measured("addIfAbsent", func(b *testing.B, goroutines int) {
			fillAgainAndAgain(b, goroutines, n, func() func(key []byte) {
				addIfAbsent := empty(b).addIfAbsent
				return func(key []byte) { addIfAbsent(key) }
			})
		})
	}
	contains := func(key []byte) { full.contains(key) }
	measured("present", func(b *testing.B, goroutines int) {
		for done := 0; done < b.N; done += n {
			goThrough(goroutines, 0, min(n, b.N-done), contains)
		}
	})
	measured("absent", func(b *testing.B, goroutines int) {
		goThrough(goroutines, n, n+b.N, contains)
		b.StopTimer()
		b.ReportMetric(full.bits()/float64(n), "bits/key")
		b.ReportMetric(100*falsePositives(full.contains, n), "%-false-positives")
	})
}

// fillAgainAndAgain adds b.N keys, n to each filter.
func fillAgainAndAgain(b *testing.B, goroutines, n int, newAdd func() func(key []byte)) {
	for done := 0; done < b.N; done += n {
		b.StopTimer()
		add := newAdd()
		b.StartTimer()
		goThrough(goroutines, 0, min(n, b.N-done), add)
	}
}

// goThrough calls work for the keys from start to end, in that many goroutines.
func goThrough(goroutines, start, end int, work func(key []byte)) {
	var wg sync.WaitGroup
	for g := range goroutines {
		first, last := start+(end-start)*g/goroutines, start+(end-start)*(g+1)/goroutines
		wg.Go(func() {
			var key [16]byte
			for i := first; i < last; i++ {
				work(mixedKey(&key, uint64(i)))
			}
		})
	}
	wg.Wait()
}

// falsePositives returns the false-positive rate for a million absent keys.
func falsePositives(contains func(key []byte) bool, n int) float64 {
	const lookups = 1_000_000
	var key [16]byte
	hits := 0
	for i := range lookups {
		if contains(mixedKey(&key, uint64(n+i))) {
			hits++
		}
	}
	return float64(hits) / lookups
}
