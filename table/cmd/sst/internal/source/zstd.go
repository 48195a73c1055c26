package source

import (
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
)

// isZstdFile reports whether a file that starts with a frame of zstd has nothing but
// frames. A table may start with one too, as a block of it: a compression id of 2 follows
// then. What is cut short in the frame is no file that zstd could decompress.
func isZstdFile(src io.ReaderAt, size int64) bool {
	end, ok := zstdFrameEnd(src, size)
	if !ok || end == size {
		return ok
	}
	next, err := readAt(src, end, min(4, size-end))
	return err == nil && (codecs.IsZstd(next) || isSkippable(next))
}

// isSkippable looks for the magic number of frames that have something else.
func isSkippable(start []byte) bool {
	return len(start) == 4 && start[0]>>4 == 5 && string(start[1:]) == "\x2a\x4d\x18"
}

// maxZstdBlocks is how many blocks a frame is gone over for: no block of a table that can
// be read here has as many.
const maxZstdBlocks = 1 << 12

// zstdFrameEnd goes over the blocks of a frame: three bytes say whether it is the last
// one, its type and its size (RFC 8878, 3.1.1). It gives up in very long frames, which
// are no blocks of a table.
func zstdFrameEnd(src io.ReaderAt, size int64) (end int64, ok bool) {
	var frame zstd.Header
	start, err := readAt(src, 0, min(size, zstd.HeaderMaxSize))
	if err != nil || frame.Decode(start) != nil {
		return 0, false
	}
	at := int64(frame.HeaderSize)
	for range maxZstdBlocks {
		b, err := readAt(src, at, 3)
		if err != nil {
			return 0, false
		}
		header := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
		length := header >> 3
		if runLength := header>>1&3 == 1; runLength {
			length = 1
		}
		if at += 3 + length; header&1 == 0 {
			continue
		}
		if frame.HasCheckSum {
			at += 4
		}
		return at, at <= size
	}
	return size, true
}
