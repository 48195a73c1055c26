package dbfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/codecs"
)

// A foreign describes a file that is not a LevelDB table, and what to do with it. In next, FILE is the path of
// the file, DIR its directory, and TABLE the name of a table to build from it.
type foreign struct{ what, next string }

// otherEngines are the magic numbers of other engines' tables.
var otherEngines = map[uint64]foreign{
	0x88e241b785f4cff7: {"a RocksDB block-based table", "read it with sst_dump --file=FILE --command=scan"},
	0x8242229663bf9564: {"a RocksDB plain table", "read it with sst_dump --file=FILE --command=scan"},
	0x926789d0c5f17873: {"a RocksDB cuckoo table", "read it with sst_dump --file=FILE --command=scan"},
	0xb3aa9ff0b3aa9ff0: {"a Pebble table", "read it with pebble sstable scan FILE"},
}

// If the file is not a LevelDB table, foreignError returns an error that says what it is. sure is false if the
// file may still be a damaged table. It cannot be one if it is empty, or has the magic number of another engine.
// A file that a MANIFEST lists always counts as a table, unless it is a log. So does a file in a directory with a
// name that engines give to tables, unless it has another engine's magic number: an engine that was killed can
// leave such a file empty, and a crash can fill it with anything.
func (f *File) foreignError(o Options) (sure bool, err error) {
	head, err := ReadAt(f.Src, 0, min(f.Size, startLen))
	if err != nil {
		return true, err
	}
	if s, found := StandInOf(f.Path, head, nil); found {
		return true, s.InPlaceOfTable(o.inDatabase() || IsInManifest(f.Path))
	}
	magic, err := magicAt(f.Src, f.Size)
	if err != nil {
		return true, err
	}
	is := f.recognizeForeign(head, magic)
	_, engine := otherEngines[magic]
	if is.what == "" || o.inDatabase() && !engine || IsInManifest(f.Path) && !IsLog(f.Path) {
		return true, nil
	}
	names := strings.NewReplacer("FILE", format.ShellPath(f.Path), "DIR", format.ShellPath(files.Dir(f.Path)),
		"TABLE", format.ShellPath(OutputName(f.Path, ".ldb")))
	return engine || f.Size == 0, fmt.Errorf("%s, not a LevelDB table: %s", is.what, names.Replace(is.next))
}

// recognizeForeign recognizes a file by its start and its magic number. It returns the zero foreign for a file
// that may be a truncated table.
func (f *File) recognizeForeign(head []byte, magic uint64) foreign {
	if magic == format.Magic {
		return foreign{}
	}
	if e, ok := otherEngines[magic]; ok {
		return e
	}
	switch kind := f.kind(head); {
	case kind == LogFile && IsLog(f.Path):
		return foreign{string(kind), "read it with sst scan, or make a table of it: sst merge FILE -o OUT"}
	case kind != "":
		return foreign{string(kind), fileKindReaders[kind]}
	}
	if what, next := files.Packed(head); what != "" && (!codecs.IsZstd(head) || isZstdFile(f.Src, f.Size)) {
		return foreign{what, next}
	}
	switch first, _, _ := bytes.Cut(head, []byte("\n")); {
	case f.Size == 0:
		return foreign{"an empty file", "a table has at least 48 bytes"}
	case (isText(head) || isLatin1(head)) && bytes.Contains(first, []byte("\t")): // only lines with a tab are key and value
		return foreign{"text", "to build a table from it, run: sst build -o TABLE FILE"}
	case isText(head), isLatin1(head):
		return foreign{"text", "use an .ldb, .sst or .filter file"}
	case isUTF16(head):
		return foreign{"UTF-16 text", "convert it first: iconv -f utf-16 -t utf-8 FILE > OUT"}
	case isUnmarkedUTF16(head):
		return foreign{"UTF-16 text", "convert it first: iconv -f utf-16le -t utf-8 FILE > OUT"}
	}
	for magic, is := range foreignTypes {
		if bytes.HasPrefix(head, []byte(magic)) {
			return is
		}
	}
	return foreign{}
}

// fileKindReaders say how to read a FILE of each kind.
var fileKindReaders = map[FileKind]string{
	CurrentFile:  "give the database's directory, DIR",
	ManifestFile: "list it with sst layout FILE, or give the database's directory, DIR",
	LogFile:      "name it .log to read it with sst scan, get, diff, stats, verify, layout or repair, or give the database's directory, DIR",
	RecordFile:   "print its records with sst scan FILE",
	PebbleLog:    "read it with pebble wal dump FILE",
}

// hasMagicAt reports whether the magic number of a table is right before offset size.
func hasMagicAt(r io.ReaderAt, size int64) bool {
	magic, err := magicAt(r, size)
	return err == nil && magic == format.Magic
}

// magicAt returns the number in the 8 bytes before offset size. If there are fewer bytes, zeros precede them.
func magicAt(r io.ReaderAt, size int64) (uint64, error) {
	end, err := ReadAt(r, max(0, size-8), min(size, 8))
	return binary.LittleEndian.Uint64(append(make([]byte, 8-len(end)), end...)), err
}

// IsTable reports whether a file ends like a LevelDB table. It may be damaged.
func IsTable(path string) bool { return StartsWithTable(path, math.MaxInt64) }

// StartsWithTable reports whether a table of this size, or of the size of a shorter file, is at the start of a file.
func StartsWithTable(path string, size int64) bool {
	f, err := OpenRegular(path, nil)
	if err != nil {
		return false
	}
	defer f.Close()
	return hasMagicAt(f.Src, min(f.Size, size))
}

// foreignTypes are file types that are recognized by their first bytes. No block of a table starts like that: an
// uncompressed block starts with a zero byte, and a Snappy block with a literal.
var foreignTypes = map[string]foreign{
	"PK\x05\x06":          {"an empty zip archive", "list it with unzip -l FILE"},
	"\x7fELF":             {"a program or library (ELF)", "use an .ldb, .sst or .filter file"},
	"SQLite format 3\x00": {"a SQLite database", "read it with sqlite3 FILE"},
	"SieveGro":            {"the state of sieve seen", "continue it with sieve seen --state FILE"},
	"SieveBlk":            {"a blocked Bloom filter", "continue it with sieve seen --state FILE if that has written it"},
	"SieveCnt":            {"the counts of a Bloom filter", "open it with filter.OpenCountingBloom"},
}

const (
	minText       = 3       // bytes; the start of a block can look like shorter text
	minLatin1     = 5       // bytes
	textSampleLen = 4 << 10 // bytes
)

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }

// isText reports whether a file starts with UTF-8 text. No block does: its first entry shares 0 bytes, so there
// is a zero byte at the start of the block, or near the start of a Snappy block.
func isText(head []byte) bool {
	sample := bytes.TrimPrefix(head[:min(len(head), textSampleLen)], []byte("\ufeff"))
	for range utf8.UTFMax - 1 { // a character may continue after the sample
		if len(head) > textSampleLen && !utf8.Valid(sample) {
			sample = sample[:len(sample)-1]
		}
	}
	return len(sample) >= minText && utf8.Valid(sample) && !bytes.ContainsFunc(sample, isControl)
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
	order := map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian}[string(head[:min(len(head), 2)])]
	return order != nil && len(utf16Text(head[2:], order)) > 1
}

// isUnmarkedUTF16 reports whether a file starts with little-endian UTF-16 text without a mark, most of which would be
// Latin-1 too. No block starts like that: an uncompressed one starts with a zero byte, and a Snappy block whose literal
// has one byte starts with that zero, not with a letter. Big-endian text can look like a block.
func isUnmarkedUTF16(head []byte) bool {
	text, latin1 := utf16Text(head, binary.LittleEndian), []byte(nil)
	for _, unit := range text {
		if unit <= unicode.MaxLatin1 {
			latin1 = append(latin1, byte(unit))
		}
	}
	return len(latin1) > len(text)/2 && isLatin1(latin1)
}

// utf16Text returns the code units of UTF-16 text, or nil if b starts with something else.
func utf16Text(b []byte, order binary.ByteOrder) (units []rune) {
	for b = b[:min(len(b), textSampleLen)]; len(b) > 1; b = b[2:] {
		r := rune(order.Uint16(b))
		if isControl(r) || !utf16.IsSurrogate(r) && !unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			return nil
		}
		units = append(units, r)
	}
	return units
}

// maxZstdBlocks bounds the number of blocks in a zstd frame that isZstdFile reads. A block of a readable table
// never has that many.
const maxZstdBlocks = 1 << 12

// isZstdFile reports whether a file that starts with a zstd frame consists of zstd frames. A
// table can start with a zstd frame too, if its first data block is one. There the block's
// trailer follows the frame, which starts with compression id 2. A truncated frame is not a
// zstd file, because zstd could not decompress it.
func isZstdFile(src io.ReaderAt, size int64) bool {
	end, blocks, ok := ZstdEnd(src, size, maxZstdBlocks)
	if !ok {
		return blocks == maxZstdBlocks // longer than any block of a table
	}
	if end == size {
		return true
	}
	// The next frame can be a skippable one (RFC 8878, section 3.1.2).
	next, err := ReadAt(src, end, min(4, size-end))
	return err == nil && (codecs.IsZstd(next) || len(next) == 4 && next[0]>>4 == 5 && string(next[1:]) == "\x2a\x4d\x18")
}

// ZstdEnd returns the offset where the zstd frame at the start of r ends. It reads
// only the frame header and the block headers. A block header has three bytes: whether the
// block is the last one, its type, and its size (RFC 8878, section 3.1.1).
//
// It reads at most maxBlocks block headers, and returns how many it read. ok is false if the
// frame is malformed, does not end within size bytes, or has more blocks.
func ZstdEnd(r io.ReaderAt, size int64, maxBlocks int) (end int64, blocks int, ok bool) {
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
