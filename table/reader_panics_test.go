package table_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// A source that panics, once: the Iter knows that what it had is lost, until it
// has found a place to go on from.
func TestSourceThatPanics(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	contents := build(t, &table.WriterOptions{BlockSize: 1, Compression: table.NoCompression}, pairs)
	panics := false
	r, err := table.NewReader(readAtFunc(func(p []byte, off int64) (int, error) {
		n, err := bytes.NewReader(contents).ReadAt(p, off)
		if panics {
			panic("source")
		}
		return n, err
	}), int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	it := r.NewIter(&table.IterOptions{Upper: pairs[60].Key})
	for _, p := range pairs[:60] {
		it.First()
		func() {
			defer func() { recover() }()
			panics = true
			it.SeekGE(pairs[59].Key)
		}()
		panics = false
		if it.Valid() || it.Next() || it.Prev() || it.Error() == nil {
			t.Fatalf("after a panic: Valid = %v, Error = %v", it.Valid(), it.Error())
		}
		if !it.SeekGE(p.Key) || !bytes.Equal(it.Key(), p.Key) || !bytes.Equal(it.Value(), p.Value) || it.Error() != nil {
			t.Fatalf("SeekGE(%q) after a panic is at %q, %v", p.Key, it.Key(), it.Error())
		}
	}
	if diff := diffPairs(pairs[:60], forward(t, it)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What was read ahead before the source panicked is not taken for the bytes that it was asked
// for.
func TestReadAheadThatPanics(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	contents := build(t, &table.WriterOptions{BlockSize: 1, Compression: table.NoCompression}, pairs)
	left := -1 // reads before the source panics
	r := openSource(t, contents, func() {
		if left--; left == 0 {
			panic("source")
		}
	})
	for reads := 1; reads < 10; reads++ {
		it := r.NewIter(&table.IterOptions{ReadAhead: 400})
		func() {
			defer func() { recover() }()
			for left = reads; it.Next(); {
			}
			t.Error("no panic")
		}()
		for _, p := range pairs {
			if !it.SeekGE(p.Key) || !bytes.Equal(it.Key(), p.Key) || !bytes.Equal(it.Value(), p.Value) {
				t.Fatalf("after a panic in read %d: SeekGE(%q) is at %q, %v", reads, p.Key, it.Key(), it.Error())
			}
		}
	}
}

// openSource opens a table whose source calls before first of all.
func openSource(t *testing.T, contents []byte, before func()) *table.Reader {
	t.Helper()
	r, err := table.NewReader(readAtFunc(func(p []byte, off int64) (int, error) {
		before()
		return bytes.NewReader(contents).ReadAt(p, off)
	}), int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A Comparer that panics within a seek: that is no end of the table.
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
		panicked := false
		func() {
			defer func() { panicked = recover() != nil }()
			left = n
			it.SeekGE(pairs[50].Key)
		}()
		left = -1
		if !panicked {
			break
		}
		if it.Valid() && bytes.Equal(it.Key(), pairs[0].Key) {
			continue // the index was searched, and the Iter has not moved
		}
		if it.Valid() || it.Next() || it.Prev() || it.Error() == nil {
			t.Fatalf("after a panic in comparison %d: Valid = %v, Error = %v", n, it.Valid(), it.Error())
		}
	}
	if diff := diffPairs(pairs, forward(t, it)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A source that panics at random reads, of whatever call: nothing stays locked, in use or in the
// Cache.
func TestAnyReadMayPanic(t *testing.T) {
	t.Parallel()
	pairs := numbered(200)
	contents := build(t, &table.WriterOptions{BlockSize: 200, FilterPolicy: withBloom.FilterPolicy, Properties: true, DataDigest: true}, pairs)
	sum, _ := tailSum(t, contents)
	broken := errors.New("a read that panics")
	rounds := 40
	if long.Enabled() {
		rounds = 1000
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(13, seed))
		every := 0
		src := readAtFunc(func(p []byte, off int64) (int, error) {
			if every > 0 && rng.IntN(every) == 0 {
				panic(broken)
			}
			return bytes.NewReader(contents).ReadAt(p, off)
		})
		c := table.NewCache(int64(100 << rng.IntN(8)))
		r, err := table.NewReader(src, int64(len(contents)), &table.ReaderOptions{Cache: c, TailSum: sum})
		if err != nil {
			t.Fatal(err)
		}
		every = 1 + rng.IntN(10)
		for range 50 {
			panickingCall(t, r, rng.IntN(7), pairs[rng.IntN(len(pairs))].Key, broken)
		}
		every = 0
		checkLookups(t, r, pairs)
		if err := r.Close(); err != nil || c.Use().Blocks != 0 {
			t.Errorf("seed %d: Close = %v; %d blocks in the Cache, want 0", seed, err, c.Use().Blocks)
		}
	}
}

// panickingCall makes a call that may panic with broken.
func panickingCall(t *testing.T, r *table.Reader, n int, key []byte, broken error) {
	defer func() {
		if p := recover(); p != nil && p != broken {
			t.Errorf("call %d panics with %v", n, p)
		}
	}()
	switch n {
	case 0:
		r.Get(key)
	case 1:
		// One read at a time, since rng is not safe for concurrent use.
		r.GetMany(context.Background(), [][]byte{key, []byte("key000007")}, &table.GetManyOptions{Concurrency: 1}, func(int, []byte) error { return nil })
	case 2:
		it := r.NewIter(nil)
		defer it.Close()
		it.SeekGE(key)
	case 3:
		r.Verify()
	case 4:
		r.FilterErr()
	case 5:
		r.Properties()
	case 6:
		mayContain(r, key)
	}
}
