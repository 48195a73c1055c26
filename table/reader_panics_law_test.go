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
		if err := r.Close(); err != nil || c.Metrics().Blocks != 0 {
			t.Errorf("seed %d: Close = %v; %d blocks in the Cache, want 0", seed, err, c.Metrics().Blocks)
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
		r.MayContain(key)
	}
}
