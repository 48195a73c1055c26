package table_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// After a panic of the source, an Iter fails until First, Last or a seek succeeds.
func TestSourceThatPanics(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	panics := false
	r := openHooked(t, build(t, oneKeyBlocks, pairs), nil, func(_, _ int64) error {
		if panics {
			panic("source")
		}
		return nil
	})
	it := r.NewIter(&table.IterOptions{Upper: pairs[60].Key})
	for _, p := range pairs[:60] {
		it.First()
		panics = true
		panicOf(func() { it.SeekGE(pairs[59].Key) })
		panics = false
		if it.Valid() || it.Next() || it.Prev() || it.Error() == nil {
			t.Fatalf("after a panic: Valid = %v, Error = %v", it.Valid(), it.Error())
		}
		if !it.SeekGE(p.Key) || !bytes.Equal(it.Key(), p.Key) || !bytes.Equal(it.Value(), p.Value) || it.Error() != nil {
			t.Fatalf("SeekGE(%q) after a panic is at %q, %v", p.Key, it.Key(), it.Error())
		}
	}
	checkPairs(t, "after all panics", pairs[:60], forward(t, it))
}

// After a panic of the source, earlier bytes in the read-ahead buffer are not taken for the requested ones.
func TestReadAheadThatPanics(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	left := -1 // reads before the source panics
	r := openHooked(t, build(t, oneKeyBlocks, pairs), nil, func(_, _ int64) error {
		if left--; left == 0 {
			panic("source")
		}
		return nil
	})
	for reads := 1; reads < 10; reads++ {
		it := r.NewIter(&table.IterOptions{ReadAhead: 400})
		left = reads
		if panicOf(func() { count(it.First, it.Next) }) == nil {
			t.Error("no panic")
		}
		for _, p := range pairs {
			if !it.SeekGE(p.Key) || !bytes.Equal(it.Key(), p.Key) || !bytes.Equal(it.Value(), p.Value) {
				t.Fatalf("after a panic in read %d: SeekGE(%q) is at %q, %v", reads, p.Key, it.Key(), it.Error())
			}
		}
	}
}

// After a panic of the Comparer in a seek, the Iter does not report the end of the table.
func TestComparerThatPanics(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	contents := build(t, nil, pairs)
	left := -1 // comparisons before it panics
	r := open(t, contents, &table.ReaderOptions{Comparer: noOrder{Comparer: table.BytewiseComparer, Func: func(a, b []byte) int {
		if left--; left == 0 {
			panic("Comparer")
		}
		return bytes.Compare(a, b)
	}}})
	it := r.NewIter(nil)
	for n := 1; ; n++ {
		it.First()
		left = n
		panicked := panicOf(func() { it.SeekGE(pairs[50].Key) })
		left = -1
		if panicked == nil {
			break
		}
		if it.Valid() && bytes.Equal(it.Key(), pairs[0].Key) {
			continue // the index was searched, and the Iter has not moved
		}
		if it.Valid() || it.Next() || it.Prev() || it.Error() == nil {
			t.Fatalf("after a panic in comparison %d: Valid = %v, Error = %v", n, it.Valid(), it.Error())
		}
	}
	checkPairs(t, "after all panics", pairs, forward(t, it))
}

// If a source panics at random reads, of any call, nothing stays locked, in use or in the Cache.
func TestAnyReadMayPanic(t *testing.T) {
	t.Parallel()
	pairs := numbered(200)
	contents := build(t, &table.WriterOptions{BlockSize: 200, FilterPolicy: withBloom.FilterPolicy, Properties: true, DataDigest: true}, pairs)
	sum, _ := tailSum(t, contents)
	for seed := range uint64(long.Rounds(40, 1000)) {
		rng := rand.New(rand.NewPCG(13, seed))
		every := 0
		c := table.NewCache(int64(100 << rng.IntN(8)))
		r := openHooked(t, contents, &table.ReaderOptions{Cache: c, TailSum: sum}, func(_, _ int64) error {
			if every > 0 && rng.IntN(every) == 0 {
				panic(errBroken)
			}
			return nil
		})
		every = 1 + rng.IntN(10)
		for range 50 {
			call := anyCall(rng, r, pairs[rng.IntN(len(pairs))].Key)
			if p := panicOf(func() { call() }); p != nil && p != errBroken {
				t.Errorf("seed %d: a call panics with %v", seed, p)
			}
		}
		every = 0
		checkLookups(t, r, pairs)
		if err := r.Close(); err != nil || c.Use().Blocks != 0 {
			t.Errorf("seed %d: Close = %v; %d blocks in the Cache, want 0", seed, err, c.Use().Blocks)
		}
	}
}

// anyCall returns one of the calls that read, with one read at a time.
func anyCall(rng *rand.Rand, r *table.Reader, key []byte) func() error {
	one := &table.GetManyOptions{Concurrency: 1}
	return pick(rng, r.Verify, r.FilterErr,
		func() error { return errorOf(r.Get(key)) },
		func() error { return errorOf(getMany(r, [][]byte{key, []byte("key000007")}, one)) },
		func() error { return errorOf(getByIter(r, key, nil)) },
		func() error { return errorOf(r.Properties()) },
		func() error { return errorOf(r.MayContain(key)) },
	)
}
