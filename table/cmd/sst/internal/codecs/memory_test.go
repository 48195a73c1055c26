//go:build !race

package codecs

// The race detector has pools forget what they are given, now and then.

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// Neither of them takes memory for each block but the block's.
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

// What decodes to much takes memory for that, and little beside it.
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

// allocated returns how many bytes are allocated by n calls of do.
func allocated(n int, do func()) uint64 {
	do()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		do()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
