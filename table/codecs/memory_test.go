//go:build !race

package codecs

// The race detector makes pools drop some of their values.

import (
	"bytes"
	"errors"
	"runtime/debug"
	"testing"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// Encode and Decode allocate only memory for the block itself.
func TestAllocations(t *testing.T) {
	src := bytes.Repeat([]byte("block "), 700)
	for _, c := range []table.Codec{Zstd, Zlib, Deflate} {
		stored, room := c.Encode(nil, src), make([]byte, 0, 2*len(src))
		for name, do := range map[string]func(){
			"Encode": func() { c.Encode(room, src) },
			"Decode": func() { must(c.Decode(room, stored, len(src))) },
		} {
			if perBlock := allocated(100, do) / 100; perBlock > 16<<10 {
				t.Errorf("id %d: %s of %d bytes takes %d bytes of memory", c.ID(), name, len(src), perBlock)
			}
		}
	}
}

// A block that decodes to many bytes takes memory for them, and little more.
func TestMemoryOfALot(t *testing.T) {
	long.Test(t)
	const size = 80<<20 + 1
	for _, c := range []table.Codec{Zstd, Zlib, Deflate} {
		stored := c.Encode(nil, make([]byte, size))
		if got := allocated(1, func() { must(c.Decode(nil, stored, size)) }); got > size+70<<20 {
			t.Errorf("id %d: %d bytes for a block of %d", c.ID(), got, size)
		}
		got := allocated(1, func() {
			if b, err := c.Decode(nil, stored, size-1); err == nil {
				t.Errorf("id %d: %d bytes beyond a limit of %d", c.ID(), len(b), size-1)
			}
		})
		if got > 70<<20 {
			t.Errorf("id %d: %d bytes for a block that is refused", c.ID(), got)
		}
	}
}

// If there is no memory for a large block, Decode returns an error before allocating it. The limit is the process's,
// so the test is not parallel.
func TestMemoryIsChecked(t *testing.T) {
	const size, limit = 72 << 20, 64 << 20
	for name, c := range map[string]table.Codec{"zstd": Zstd, "zlib": Zlib, "deflate": Deflate, "snappy": snappy{table.Snappy}} {
		stored := c.Encode(nil, make([]byte, size))
		before := debug.SetMemoryLimit(limit)
		b, err := c.Decode(nil, stored, maxBlock)
		debug.SetMemoryLimit(before)
		if refused := (*alloc.Error)(nil); !errors.As(err, &refused) || refused.Needed < size || refused.Limit != limit {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

// A block of a few bytes that claims to decode to a lot takes little memory, with a new decoder too.
func TestMemoryOfClaims(t *testing.T) {
	newZstd := func() table.Codec { return newCodec(2, "zstd", newZstdReader, newZstdWriter) }
	newZlib := func() table.Codec { return newCodec(2, "zlib", newZlibReader, newZlibWriter) }
	newSnappy := func() table.Codec { return snappy{table.Snappy} }
	magic := "\x28\xb5\x2f\xfd"
	for name, tt := range map[string]struct {
		newCodec func() table.Codec
		block    string
	}{
		"zstd, 1 GiB in one segment":        {newZstd, magic + "\xa0\x00\x00\x00\x40\x01\x00\x00"},
		"zstd, 1 EiB in one segment":        {newZstd, magic + "\xe0\x00\x00\x00\x00\x00\x00\x00\x10\x01\x00\x00"},
		"zstd, a window of 8 MiB":           {newZstd, magic + "\x80\x68\x00\x00\x00\x40\x01\x00\x00"},
		"zstd, a window of 1 GiB":           {newZstd, magic + "\x80\xa0\x00\x00\x00\x40\x01\x00\x00"},
		"zstd, the largest window":          {newZstd, magic + "\x00\xff\x01\x00\x00"},
		"zstd, a literals section of 1 MiB": {newZstd, magic + "\x00\x58\x05\x00\x08\x0c\x00\x00"},
		"zlib, a dictionary":                {newZlib, "\x78\xbb\x00\x00\x00\x01\x03\x00"},
		"snappy, 1 GiB":                     {newSnappy, "\x80\x80\x80\x80\x04\x00a"},
		"snappy, 2⁶³ bytes":                 {newSnappy, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x00a"},
	} {
		t.Run(name, func(t *testing.T) {
			got := allocated(1, func() {
				if b, err := tt.newCodec().Decode(nil, []byte(tt.block), maxBlock); err == nil && len(b) > 0 {
					t.Errorf("%d bytes", len(b))
				}
			})
			if got > 20<<20 {
				t.Errorf("%d bytes of memory", got)
			}
		})
	}
}

// allocated returns the number of bytes that n calls of do allocate, after a first call.
func allocated(n int, do func()) uint64 {
	do()
	return filtertest.AllocatedBy(func() {
		for range n {
			do()
		}
	})
}
