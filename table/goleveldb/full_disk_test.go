package goleveldb_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/table/goleveldb"
)

// A full disk is noticed at most 1 MB of keys and values later than by goleveldb, which writes each block at once,
// even if Snappy makes the blocks small.
func TestFullDiskIsSeenSoon(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	for range 30 {
		size := rng.IntN(5 << 20)
		same := []int{0, 1, 2, 10, 200}[rng.IntN(5)] // number of equal bytes in a value, per random byte
		o := opt.Options{BlockSize: 1 + rng.IntN(16<<10), Compression: []opt.Compression{opt.NoCompression, opt.SnappyCompression}[rng.IntN(2)]}
		limits, seed := [2]limitedFile{limitedFile(size), limitedFile(size)}, rng.Uint64()
		theirs := untilFull(t, theirWriter(&limits[0], &o), same, seed)
		ours := untilFull(t, goleveldb.NewWriter(&limits[1], &o, nil, 0), same, seed)
		if ours > theirs+1<<20 {
			t.Errorf("a disk with %d bytes, blocks of %d, %v, %d of %d bytes the same: seen after %d bytes, want %d and 1 MB at most", size, o.BlockSize, o.Compression, same, same+1, ours, theirs)
		}
	}
}

// untilFull appends until the file is full, and returns the number of bytes of keys and values appended.
func untilFull(t *testing.T, w writer, same int, seed uint64) (appended int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := 0; ; i++ {
		key, value := fmt.Appendf(nil, "%016d", i), make([]byte, rng.IntN(2000))
		for j := range len(value) / (same + 1) {
			value[j] = byte(rng.Uint32())
		}
		appended += len(key) + len(value)
		if err := w.Append(key, value); err == errFull {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range ends(w) {
		if err != errFull {
			t.Errorf("a call after a full disk: %v", err)
		}
	}
	return appended
}
