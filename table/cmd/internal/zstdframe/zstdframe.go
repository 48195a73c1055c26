// Package zstdframe finds the ends of zstd frames without decoding them.
package zstdframe

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// End returns the offset where the zstd frame at the start of r ends. It reads
// only the frame header and the block headers. A block header has three bytes: whether the
// block is the last one, its type, and its size (RFC 8878, section 3.1.1).
//
// It reads at most maxBlocks block headers, and returns how many it read. ok is false if the
// frame is malformed, does not end within size bytes, or has more blocks.
func End(r io.ReaderAt, size int64, maxBlocks int) (end int64, blocks int, ok bool) {
	start := make([]byte, min(size, zstd.HeaderMaxSize))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), start); err != nil {
		return 0, 0, false
	}
	var frame zstd.Header
	if err := frame.Decode(start); err != nil || frame.Skippable {
		return 0, 0, false
	}
	end = int64(frame.HeaderSize)
	var b [3]byte
	for last := false; !last; blocks++ {
		if blocks == maxBlocks || end+int64(len(b)) > size {
			return 0, blocks, false
		}
		if n, err := r.ReadAt(b[:], end); n < len(b) && err != nil {
			return 0, blocks, false
		}
		header := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
		last = header&1 != 0
		length := header >> 3
		if isRunLength := header>>1&3 == 1; isRunLength {
			length = 1 // the byte that is repeated
		}
		end += int64(len(b)) + length
	}
	if frame.HasCheckSum {
		end += 4
	}
	return end, blocks, end <= size
}
