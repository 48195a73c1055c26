package codecs

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// fresh are unused writers.
var fresh = []struct {
	codec     table.Codec
	newWriter func(w io.Writer) (io.WriteCloser, error)
}{
	{Zstd, func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	}},
	{Zlib, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }},
	{Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.DefaultCompression) }},
}

// blocks returns blocks that repeat parts of themselves, near and far.
func blocks(rng *rand.Rand, sizes ...int) [][]byte {
	var all [][]byte
	words := make([]byte, 1<<10)
	for i := range words {
		words[i] = byte(rng.IntN(256))
	}
	for _, size := range sizes {
		b := make([]byte, 0, size)
		for len(b) < size {
			if at, n := rng.IntN(len(words)), 1+rng.IntN(40); len(b) > 0 && rng.IntN(3) == 0 {
				at = rng.IntN(len(b))
				b = append(b, b[at:min(len(b), at+n)]...)
			} else {
				b = append(b, words[at:min(len(words), at+n)]...)
			}
		}
		all = append(all, b[:size])
	}
	return all
}

// Encoded bytes do not depend on earlier blocks, nor on concurrent calls.
func TestSameBytesAsFresh(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	all := blocks(rng, 4096, 1<<20, 0, 1, 100, 128<<10-1, 128<<10, 128<<10+1, 4096)
	for _, f := range fresh {
		var running sync.WaitGroup
		for range 2 {
			running.Go(func() {
				for _, src := range all {
					checkSame(t, f.codec, f.newWriter, src)
				}
			})
		}
		running.Wait()
	}
	for _, src := range blocks(rng, 9<<20, 4096) { // more than zstd's window
		checkSame(t, Zstd, fresh[0].newWriter, src)
	}
}

func checkSame(t *testing.T, c table.Codec, newWriter func(w io.Writer) (io.WriteCloser, error), src []byte) {
	var want bytes.Buffer
	w := must(newWriter(&want))
	must(w.Write(src))
	must(0, w.Close())
	if got := c.Encode([]byte("dst"), src); !bytes.Equal(got[3:], want.Bytes()) {
		t.Errorf("id %d: %d bytes are encoded in other ways", c.ID(), len(src))
	}
}

// A corrupt block does not affect the next one, of any codec.
func TestDecodeAfterDamage(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	for _, src := range blocks(rng, 0, 1, 5000, 300<<10) {
		for _, c := range []table.Codec{Zstd, Zlib, Deflate} {
			stored := c.Encode(nil, src)
			for range 50 {
				damaged := bytes.Clone(stored[:rng.IntN(len(stored)+1)])
				if len(damaged) > 0 {
					damaged[rng.IntN(len(damaged))] ^= byte(1 + rng.IntN(255))
				}
				for _, other := range []table.Codec{Zstd, Zlib, Deflate} {
					other.Decode(nil, damaged, 1<<20)
				}
				if got, err := c.Decode(nil, stored, len(src)); err != nil || !bytes.Equal(got, src) {
					t.Fatalf("id %d: %d bytes, %v; want %d", c.ID(), len(got), err, len(src))
				}
			}
		}
	}
}
