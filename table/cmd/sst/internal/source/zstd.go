package source

import (
	"io"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
)

// maxZstdBlocks bounds how many blocks of a zstd frame isZstdFile reads. A block of a
// readable table never has as many.
const maxZstdBlocks = 1 << 12

// isZstdFile reports whether a file that starts with a zstd frame consists of zstd frames. A
// table can start with a zstd frame too, if its first data block is one. There the block's
// trailer follows the frame, which starts with compression id 2. A truncated frame is not a
// zstd file, because zstd could not decompress it.
func isZstdFile(src io.ReaderAt, size int64) bool {
	end, blocks, ok := codecs.ZstdFrameEnd(src, size, maxZstdBlocks)
	if !ok {
		return blocks == maxZstdBlocks // longer than any block of a table
	}
	if end == size {
		return true
	}
	next, err := readAt(src, end, min(4, size-end))
	return err == nil && (codecs.IsZstd(next) || isSkippableFrame(next))
}

// isSkippableFrame reports whether data is the magic number of a skippable zstd frame
// (RFC 8878, section 3.1.2).
func isSkippableFrame(data []byte) bool {
	return len(data) == 4 && data[0]>>4 == 5 && string(data[1:]) == "\x2a\x4d\x18"
}
