package source

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
	"github.com/sievetable/sievetable/table/codecs"
)

// otherEngines are the magic numbers of other engines' tables, with a command that reads
// them.
var otherEngines = map[uint64]struct{ what, reader string }{
	0x88e241b785f4cff7: {"a RocksDB block-based table", "sst_dump --file=%s --command=scan"},
	0x8242229663bf9564: {"a RocksDB plain table", "sst_dump --file=%s --command=scan"},
	0x926789d0c5f17873: {"a RocksDB cuckoo table", "sst_dump --file=%s --command=scan"},
	0xb3aa9ff0b3aa9ff0: {"a Pebble table", "pebble sstable scan %s"},
}

// foreignError returns an error that says what the file is, if it is not a LevelDB table.
// sure is false if the file may still be a damaged table. It cannot be one if it is empty,
// or has the magic number of another engine. A file that a MANIFEST lists is always taken
// for a table, and so is one of a directory that is named as engines name tables, unless it has
// that number: an engine that was killed can leave it empty, and a crash can fill it with anything.
func (f *File) foreignError(o Options) (sure bool, err error) {
	head, err := readAt(f.Src, 0, min(f.Size, startLen))
	if err != nil {
		return true, err
	}
	if s, found := standInOf(f.Path, head, nil); found {
		return true, s.inPlaceOfTable(o.inDatabase() || IsInManifest(f.Path))
	}
	tail, err := readAt(f.Src, max(0, f.Size-8), min(f.Size, 8))
	if err != nil {
		return true, err
	}
	tail = append(make([]byte, 8-len(tail)), tail...)
	what, next := f.recognizeForeign(head, tail)
	_, engine := otherEngines[binary.LittleEndian.Uint64(tail)]
	if what == "" || o.inDatabase() && !engine || IsInManifest(f.Path) {
		return true, nil
	}
	return engine || f.Size == 0, fmt.Errorf("%s, not a LevelDB table: %s", what, next)
}

// recognizeForeign recognizes a file by its start and end, and says what to do with it. It
// returns "" for what may be a truncated table.
func (f *File) recognizeForeign(head, tail []byte) (what, next string) {
	path, magic := text.ShellPath(f.Path), binary.LittleEndian.Uint64(tail)
	if magic == format.Magic {
		return "", ""
	}
	if e, ok := otherEngines[magic]; ok {
		return e.what, "read it with " + fmt.Sprintf(e.reader, path)
	}
	if kind := f.kind(head); kind != "" {
		return string(kind), strings.NewReplacer("FILE", path, "DIR", text.ShellPath(filepath.Dir(f.Path))).Replace(fileKindReaders[kind])
	}
	switch {
	case f.Size == 0:
		return "an empty file", "a table has at least a footer of 48 bytes"
	case isGzip(head):
		return "compressed with gzip", "decompress it first: gzip -dc " + path + " > OUT"
	case codecs.IsZstd(head) && isZstdFile(f.Src, f.Size):
		return "compressed with zstd", "decompress it first: zstd -dc " + path + " > OUT"
	case isText(head), isLatin1(head):
		return "text", f.useOfText(head)
	case isTar(head):
		return "a tar archive", "take the tables out first: tar -xf " + path
	case isUTF16(head):
		return "UTF-16 text", "make it UTF-8 first: iconv -f utf-16 -t utf-8 " + path + " > OUT"
	}
	for _, k := range foreignTypes {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.what, k.next + path + k.end
		}
	}
	return "", ""
}

// useOfText says what to do with a text file. Only lines with a tab are key and value.
func (f *File) useOfText(head []byte) string {
	if first, _, _ := bytes.Cut(head, []byte("\n")); !bytes.Contains(first, []byte("\t")) {
		return "want an .ldb, .sst or .filter file"
	}
	return fmt.Sprintf("build a table from it with sst build -o %s %s", text.ShellPath(OutputName(f.Path, ".ldb")), text.ShellPath(f.Path))
}

// fileKindReaders say how to read such a FILE, in the DIR of a database.
var fileKindReaders = map[FileKind]string{
	CurrentFile:  "use sst with the database's directory, DIR",
	ManifestFile: "list it with sst layout, or use sst with the database's directory, DIR",
	LogFile:      "read it as a .log file with sst scan, get, diff, stats, verify, layout or salvage, or use sst with the database's directory, DIR",
	RecordFile:   "print its records with sst scan FILE",
	PebbleLog:    "read it with pebble wal dump FILE",
}

// hasMagicAt reports whether the magic number of a table is right before offset size.
func hasMagicAt(r io.ReaderAt, size int64) bool {
	end, err := readAt(r, max(0, size-8), min(size, 8))
	return err == nil && len(end) == 8 && binary.LittleEndian.Uint64(end) == format.Magic
}

// IsTable reports whether a file ends as tables of LevelDB do. It may be damaged.
func IsTable(path string) bool {
	f, err := openRegular(path, nil)
	if err != nil {
		return false
	}
	defer f.Close()
	return hasMagicAt(f.Src, f.Size)
}
