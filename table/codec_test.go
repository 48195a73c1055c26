package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// lazyCodec returns src itself, or nothing, if it cannot compress src.
type lazyCodec struct{ runCodec }

func (c lazyCodec) Encode(dst, src []byte) []byte {
	if bytes.Contains(src, []byte("random")) {
		return src
	}
	if bytes.Contains(src, []byte("nothing")) {
		return dst
	}
	return c.runCodec.Encode(dst, src)
}

// A block is not overwritten if Encode returns it, and not lost if Encode returns nothing.
func TestCodecThatDoesNotCompress(t *testing.T) {
	t.Parallel()
	pairs := numbered(1000)
	for i := range pairs {
		pairs[i].Value = [][]byte{bytes.Repeat([]byte{'z'}, 300), fmt.Appendf(nil, "random %d", i), fmt.Appendf(nil, "nothing %d", i)}[i%3]
	}
	for _, concurrency := range []int{1, 3} {
		contents := build(t, &table.WriterOptions{BlockSize: 1, Compression: lazyCodec{runCodec{9}}, Concurrency: concurrency}, pairs)
		r := open(t, contents, &table.ReaderOptions{Codecs: []table.Codec{runCodec{9}}})
		checkPairs(t, fmt.Sprintf("with Concurrency %d", concurrency), pairs, forward(t, r.NewIter(nil)))
	}
}

// runCodec stores runs of a byte as their length and the byte plus one.
type runCodec struct{ id byte }

func (c runCodec) ID() byte { return c.id }

func (c runCodec) Encode(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		run := 1
		for run < 255 && i+run < len(src) && src[i+run] == src[i] {
			run++
		}
		dst = append(dst, byte(run), src[i]+1)
		i += run
	}
	return dst
}

func (c runCodec) Decode(dst, src []byte, limit int) ([]byte, error) {
	start := len(dst)
	for ; len(src) >= 2; src = src[2:] {
		if len(dst)-start+int(src[0]) > limit {
			return nil, errors.New("too long")
		}
		dst = append(dst, bytes.Repeat([]byte{src[1] - 1}, int(src[0]))...)
	}
	return dst, nil
}

func TestCodecs(t *testing.T) {
	t.Parallel()
	var pairs []workload.Pair
	for i := range 200 {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "%03d", i), Value: bytes.Repeat([]byte{byte(i)}, 200)})
	}
	raw := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	for _, c := range []table.Codec{table.Snappy, runCodec{2}, runCodec{255}} {
		contents := build(t, &table.WriterOptions{Compression: c, FilterPolicy: filter.NewBloom(10)}, pairs)
		if len(contents) > len(raw)/2 {
			t.Errorf("codec %d: %d bytes, %d without", c.ID(), len(contents), len(raw))
		}
		r := open(t, contents, &table.ReaderOptions{Codecs: []table.Codec{nil, c}})
		checkTable(t, r, pairs)
	}
	unknown := build(t, &table.WriterOptions{Compression: runCodec{7}}, pairs)
	checkError(t, "Get without the codec", errorOf(open(t, unknown, nil).Get([]byte("000"))), table.ErrCorrupt, "compression id 7")
}

// Id 0 means uncompressed blocks.
func TestCodecOfIdZero(t *testing.T) {
	t.Parallel()
	contents := build(t, nil, nil)
	for _, tt := range []struct {
		codec table.Codec
		ok    bool
	}{{runCodec{0}, false}, {table.NoCompression, true}, {runCodec{9}, true}} {
		_, err := table.NewWriter(io.Discard, &table.WriterOptions{Compression: tt.codec})
		_, readErr := table.NewReader(bytes.NewReader(contents), int64(len(contents)), &table.ReaderOptions{Codecs: []table.Codec{tt.codec}})
		if (err == nil) != tt.ok || (readErr == nil) != tt.ok {
			t.Errorf("%#v: NewWriter = %v, NewReader = %v; want no error: %v", tt.codec, err, readErr, tt.ok)
		}
	}
}
