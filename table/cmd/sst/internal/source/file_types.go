package source

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/zstdframe"
	"github.com/sievetable/sievetable/table/codecs"
)

// foreignTypes are file types that are known by their first bytes. No block of a table
// starts like that: an uncompressed block starts with a byte 0, a Snappy block with a
// literal.
var foreignTypes = []struct{ magic, what, next, end string }{
	{"\xfd7zXZ\x00", "compressed with xz", "decompress it first: xz -dc ", " > OUT"},
	{"BZh", "compressed with bzip2", "decompress it first: bzip2 -dc ", " > OUT"},
	{"PK\x03\x04", "a zip archive", "take the tables out first: unzip ", ""},
	{"PK\x05\x06", "an empty zip archive", "list it with unzip -l ", ""},
	{"\x7fELF", "a program or library (ELF)", "want an .ldb, .sst or .filter file instead of ", ""},
	{"SQLite format 3\x00", "a SQLite database", "read it with sqlite3 ", ""},
}

// isGzip checks the magic number, the compression method, and that no reserved flags are
// set.
func isGzip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x1f\x8b\x08")) && len(head) > 3 && head[3] < 1<<5
}

// isTar reports whether a file starts with a header of a tar archive, which has a checksum.
func isTar(head []byte) bool {
	const blockLen = 512
	_, err := tar.NewReader(bytes.NewReader(head)).Next()
	return len(head) >= blockLen && err != io.EOF && !errors.Is(err, tar.ErrHeader)
}

const (
	minText       = 3       // bytes; the start of a block can look like shorter text
	minLatin1     = 5       // bytes
	textSampleLen = 4 << 10 // bytes
)

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }

// isText reports whether a file starts with UTF-8 text. No block does: its first entry
// shares 0 bytes, which is a byte 0 at the start of the block, or right after the length in
// a Snappy block.
func isText(head []byte) bool {
	sample := bytes.TrimPrefix(head[:min(len(head), textSampleLen)], []byte("\ufeff"))
	if len(sample) < minText {
		return false
	}
	for len(sample) > 0 {
		r, size := utf8.DecodeRune(sample)
		if r == utf8.RuneError && size == 1 && len(head) > textSampleLen && !utf8.FullRune(sample) {
			return true // the character continues after the sample
		}
		if r == utf8.RuneError && size == 1 || isControl(r) {
			return false
		}
		sample = sample[size:]
	}
	return true
}

// isLatin1 reports whether a file starts with text of one byte per character, such as
// Latin-1. More than half of the characters must be ASCII letters, digits or spaces, unlike
// in compressed data.
func isLatin1(head []byte) bool {
	sample := head[:min(len(head), textSampleLen)]
	plain := 0
	for _, c := range sample {
		switch {
		case isControl(rune(c)):
			return false
		case c == ' ' || '0' <= c && c <= '9' || 'A' <= c&^0x20 && c&^0x20 <= 'Z':
			plain++
		}
	}
	return len(sample) >= minLatin1 && plain > len(sample)/2
}

// isUTF16 reports whether a file starts with a byte order mark and UTF-16 text.
func isUTF16(head []byte) bool {
	var order binary.ByteOrder
	switch sample := head[:min(len(head), 2)]; {
	case string(sample) == "\xff\xfe":
		order = binary.LittleEndian
	case string(sample) == "\xfe\xff":
		order = binary.BigEndian
	default:
		return false
	}
	sample := head[2 : min(len(head), textSampleLen)&^1]
	for i := 0; i < len(sample); i += 2 {
		if r := rune(order.Uint16(sample[i:])); isControl(r) || !utf16.IsSurrogate(r) && !unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return len(sample) > minText
}

// maxZstdBlocks bounds how many blocks of a zstd frame isZstdFile reads. A block of a
// readable table never has as many.
const maxZstdBlocks = 1 << 12

// isZstdFile reports whether a file that starts with a zstd frame consists of zstd frames. A
// table can start with a zstd frame too, if its first data block is one. There the block's
// trailer follows the frame, which starts with compression id 2. A truncated frame is not a
// zstd file, because zstd could not decompress it.
func isZstdFile(src io.ReaderAt, size int64) bool {
	end, blocks, ok := zstdframe.End(src, size, maxZstdBlocks)
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
