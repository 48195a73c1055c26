package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/FastFilter/xorfilter"
	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/greatroar/blobloom"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

var kindsLarge = flag.Bool("kinds.large", false, "BenchmarkKinds also with filters of 10⁸ keys")

// A kind is one of an engine's filters.
type kind struct {
	name, engine string
	mostKeys     int
	build        builder
}

// A builder builds a filter of n keys. It returns a function that looks up a key, and the filter's size in bytes.
type builder = func(b *testing.B, n int, keys func(add func(key []byte))) (contains func(key []byte) bool, size int)

const anyKeys = 1e9

var kinds = []kind{
	{"Bloom", "sievetable", anyKeys, func(_ *testing.B, _ int, keys func(func([]byte))) (func([]byte) bool, int) {
		p := filter.NewBloom(10)
		g := p.NewGenerator()
		keys(g.Add)
		var f filter.Bytes
		g.Generate(&f)
		return func(key []byte) bool { return p.Contains(f, key) }, len(f)
	}},
	{"Bloom", "goleveldb", anyKeys, func(_ *testing.B, _ int, keys func(func([]byte))) (func([]byte) bool, int) {
		p := lfilter.NewBloomFilter(10)
		g := p.NewGenerator()
		keys(g.Add)
		f := new(util.Buffer)
		g.Generate(f)
		return func(key []byte) bool { return p.Contains(f.Bytes(), key) }, f.Len()
	}},
	{"TableBloom", "sievetable", anyKeys, tableFilterOf(filter.NewTableBloom(10))},
	{"TableBloom", "Pebble", anyKeys, func(_ *testing.B, _ int, keys func(func([]byte))) (func([]byte) bool, int) {
		p := bloom.FilterPolicy(10)
		w := p.NewWriter(sstable.TableFilter)
		keys(w.AddKey)
		f := w.Finish(nil)
		return func(key []byte) bool { return p.MayContain(sstable.TableFilter, f, key) }, len(f)
	}},
	{"fuse8", "sievetable", fuse.MaxKeys, tableFilterOf(valid(fuse.New(8)))},
	{"fuse8", "xorfilter", fuse.MaxKeys, fuseOfPeer[uint8]},
	{"fuse12", "sievetable", fuse.MaxKeys, tableFilterOf(valid(fuse.New(12)))},
	{"fuse16", "sievetable", fuse.MaxKeys, tableFilterOf(valid(fuse.New(16)))},
	{"fuse16", "xorfilter", fuse.MaxKeys, fuseOfPeer[uint16]},
	{"fuse16 as 12", "sievetable", fuse.MaxKeys, fuse16AtMost(12)},
	{"fuse16 as 8", "sievetable", fuse.MaxKeys, fuse16AtMost(8)},
	{"fuse16 as 4", "sievetable", fuse.MaxKeys, fuse16AtMost(4)},
	{"paged", "sievetable", anyKeys, tableFilterOf(valid(paged.New(10)).InMemory())},
	{"DynamicBloom", "sievetable", anyKeys, func(b *testing.B, n int, keys func(func([]byte))) (func([]byte) bool, int) {
		f, err := filter.NewDynamicBloom(uint64(n), 10)
		noError(b, err)
		keys(f.Add)
		return f.Contains, n * 10 / 8
	}},
	{"DynamicBloom", "bits-and-blooms", anyKeys, func(_ *testing.B, n int, keys func(func([]byte))) (func([]byte) bool, int) {
		f := bitsbloom.New(uint(10*n), 6)
		keys(func(key []byte) { f.Add(key) })
		return f.Test, int(f.Cap() / 8)
	}},
	{"blocked", "sievetable", anyKeys, func(b *testing.B, n int, keys func(func([]byte))) (func([]byte) bool, int) {
		f, err := blocked.New(uint64(n), 0.0064) // the rate of a blobloom filter that is sized for 1 %
		noError(b, err)
		keys(f.Add)
		return f.Contains, int(f.Size())
	}},
	{"blocked", "blobloom", anyKeys, func(_ *testing.B, n int, keys func(func([]byte))) (func([]byte) bool, int) {
		size, hashes := blobloomSize(n)
		f := blobloom.New(size, hashes)
		keys(func(key []byte) { f.Add(xxh3.Hash(key)) })
		return func(key []byte) bool { return f.Has(xxh3.Hash(key)) }, int(size / 8)
	}},
}

// valid returns p. All numbers of bits here are valid.
func valid[P any](p P, err error) P {
	if err != nil {
		panic(err)
	}
	return p
}

// fuse16AtMost builds filters of 16 bits and narrows them, as a Reader with too little memory does.
func fuse16AtMost(bits int) builder {
	return func(b *testing.B, _ int, keys func(func([]byte))) (func([]byte) bool, int) {
		g := valid(fuse.New(16)).NewTableGenerator()
		keys(g.Add)
		contents, err := g.Generate()
		noError(b, err)
		if contents, err = fuse.Narrow(contents, bits); err != nil {
			b.Fatal(err)
		}
		f, err := valid(fuse.New(bits)).Open(contents)
		noError(b, err)
		return f.Contains, len(contents)
	}
}

func tableFilterOf(p filter.TablePolicy) builder {
	return func(b *testing.B, _ int, keys func(func([]byte))) (func([]byte) bool, int) {
		g := p.NewTableGenerator()
		keys(g.Add)
		contents, err := g.Generate()
		noError(b, err)
		f, err := p.Open(contents)
		noError(b, err)
		return f.Contains, len(contents)
	}
}

func fuseOfPeer[T uint8 | uint16](b *testing.B, n int, keys func(func([]byte))) (func([]byte) bool, int) {
	hashes := make([]uint64, 0, n)
	keys(func(key []byte) { hashes = append(hashes, xxh3.Hash(key)) })
	f, err := xorfilter.NewBinaryFuse[T](hashes)
	noError(b, err)
	return func(key []byte) bool { return f.Contains(xxh3.Hash(key)) }, len(f.Fingerprints) * bits.Len64(uint64(^T(0))) / 8
}

// mixedKey sets key to key i and returns it. Neighbors share no prefix.
func mixedKey(key *[16]byte, i uint64) []byte {
	h := (i + 1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>31) * 0xbf58476d1ce4e5b9
	binary.LittleEndian.PutUint64(key[:], h^h>>29)
	binary.LittleEndian.PutUint64(key[8:], i)
	return key[:]
}

// BenchmarkKinds builds and queries filters of each kind, and compares them with the best other package for that
// kind. ns/op is the time per key. For build, it is the time from the first key to the finished filter, and
// allocated-B/key is all memory allocated for the filter.
//
//	go test -run '^$' -bench Kinds -cpu 1 -kinds.large ./bench/peers
func BenchmarkKinds(b *testing.B) {
	sizes := []int{10_000, 1_000_000}[:long.Size(1, 2)]
	if *kindsLarge {
		sizes = append(sizes, fuse.MaxKeys, 100_000_000)
	}
	for _, n := range sizes {
		for _, k := range kinds {
			if n <= k.mostKeys {
				b.Run(fmt.Sprintf("keys=%d/kind=%s/engine=%s", n, k.name, k.engine), func(b *testing.B) { k.measure(b, n) })
			}
		}
	}
}

func (k kind) measure(b *testing.B, n int) {
	var contains func(key []byte) bool
	var size int
	var key [16]byte
	build := func(b *testing.B) {
		contains, size = k.build(b, n, func(add func([]byte)) {
			for i := range uint64(n) {
				add(mixedKey(&key, i))
			}
		})
	}
	b.Run("build", func(b *testing.B) {
		contains = nil
		runtime.GC()
		filters := 0
		allocated := filtertest.AllocatedBy(func() {
			for built := 0; built < b.N; built += n { // at least one
				build(b)
				filters++
			}
		})
		all := float64(filters * n)
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/all, "ns/op")
		b.ReportMetric(float64(allocated)/all, "allocated-B/key")
		b.ReportMetric(8*float64(size)/float64(n), "bits/key")
	})
	lookUp := func(from uint64) func(b *testing.B) {
		return func(b *testing.B) {
			if contains == nil { // -bench does not select build
				build(b)
				b.ResetTimer()
			}
			yes := 0
			for i := range uint64(b.N) {
				if contains(mixedKey(&key, from+i*7_368_787%uint64(n))) {
					yes++
				}
			}
			b.ReportMetric(100*float64(yes)/float64(b.N), "%yes")
		}
	}
	b.Run("present", lookUp(0))
	b.Run("absent", lookUp(uint64(n)))
}

// The lookups of BenchmarkKinds can be measured alone.
func TestKindsWithoutBuild(t *testing.T) {
	t.Parallel()
	const lookups = "Kinds/keys=10000/kind=Bloom/engine=sievetable/present"
	cmd := exec.Command(os.Args[0], "-test.run", "^$", "-test.bench", lookups, "-test.benchtime", "1x")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%.2000s", err, out)
	}
}
