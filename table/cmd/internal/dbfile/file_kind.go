package dbfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
)

// A FileKind is the kind of a database file other than a table.
type FileKind string

// The files of a database other than tables.
const (
	CurrentFile  FileKind = "the CURRENT file of a database"
	ManifestFile FileKind = "the MANIFEST of a database"
	LogFile      FileKind = "the log of a database"
	RecordFile   FileKind = "a file in LevelDB's log format whose records are not write batches, such as a Firestore export"
	PebbleLog    FileKind = "a Pebble log, or a recycled RocksDB log"
)

// FileKindOf returns the kind of a file, by its name or its start. It returns "" if the file may be a table.
func FileKindOf(path string, o Options) (FileKind, error) {
	f, err := OpenRegular(path, o.Outputs)
	if err != nil {
		return "", err
	}
	defer f.Close()
	f.Src = pastUnreadable(f.Src, path, o.Unread)
	start, err := ReadAt(f.Src, 0, min(f.Size, startLen))
	if s, found := StandInOf(path, start, nil); found {
		err = errors.New(s.What + ": " + s.Next)
	}
	if err != nil {
		return "", f.Wrap(err)
	}
	return f.kind(start), nil
}

// kind returns the kind of a file with this start. A file in log format whose records are not batches is a
// RecordFile, unless it has the name of a log: then the records are damage.
func (f *File) kind(start []byte) FileKind {
	name := filepath.Base(f.Path)
	record, isLog := wal.FirstFragment(start)
	switch {
	case name == "CURRENT", versions.IsManifest(strings.TrimSuffix(string(start), "\n")): // the contents of CURRENT
		return CurrentFile
	case versions.IsManifest(name), isLog && namesComparer(record):
		return ManifestFile
	case wal.StartsWithPebbleFragment(start):
		return PebbleLog
	case versions.IsLogName(name):
		return LogFile
	case !isLog:
		return ""
	}
	if none, err := wal.HasNoBatches(f.Src, f.Size); none && err == nil { // the next read returns the error
		return RecordFile
	}
	return LogFile
}

// IsLog reports whether a file has the extension of a log.
func IsLog(path string) bool { return filepath.Ext(path) == ".log" }

// IsLogFile reports whether a file has the extension of a log, and does not start like another kind of file.
func IsLogFile(path string, o Options) bool {
	if !IsLog(path) {
		return false
	}
	kind, _ := FileKindOf(path, o) // opening it returns the error
	return kind == "" || kind == LogFile
}

// namesComparer reports whether a record is the first version edit of a MANIFEST. Its field 1 is the name of the
// comparator. A batch in a log starts with an 8-byte sequence number, whose last byte is 0 and cannot be part of
// a name.
func namesComparer(record []byte) bool {
	for f, err := range versions.Fields(record) {
		name := string(f.Key)
		return err == nil && f.Kind == versions.FieldComparer && len(name) >= 6 && printable.String(name) == name
	}
	return false
}

// Records is a RecordFile.
type Records struct {
	Path string
	Size int64  // set once All has begun
	Note string // describes bytes at the end that are not a record, once All has ended; "": none
}

// A Record is a record of a RecordFile, or the start of one.
type Record struct {
	Bytes []byte // valid until the next record
	Len   int    // length of the whole record
}

// All yields the records of the file, and up to keep bytes of each. Any damage is an error: there was none when
// the file was identified as a RecordFile.
func (r *Records) All(o Options, keep int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f, err := OpenRegular(r.Path, o.Outputs)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer f.Close()
		if r.Size = f.Size; o.WrapReader != nil {
			f.Src = o.WrapReader(f.Src)
		}
		var damage error
		in, failed := wal.NewLogReader(f.Src, f.Size, func(d wal.Damage) { damage = d })
		if failed == nil {
			in.KeepHeads(keep)
		}
		for failed == nil {
			record, _, err := in.Next()
			if failed = cmp.Or(damage, err); failed == nil && !yield(Record{record, in.RecordLen()}, nil) {
				return
			}
		}
		if failed != io.EOF {
			yield(Record{}, f.Wrap(failed))
			return
		}
		end := wal.Log{Tail: f.Size - in.Offset(), ZeroTail: in.EndsInZeros()}
		r.Note = end.UnwrittenNote()
	}
}

// IsEmpty reports whether a file is empty.
func IsEmpty(path string) bool {
	info, err := files.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// A StandIn is found in place of a database file of any kind: a pointer to the file that a repository has before
// it is fetched, or the encrypted file. No crash turns a file into a stand-in.
type StandIn struct{ What, Next string }

const (
	decryptFirst = "decrypt a copy of the whole directory first"
	fetchFirst   = "fetch the file that it stands for: git "
	annexLink    = ".git/annex/objects/"
)

// IsPointer reports whether the StandIn is a pointer of git to a file that it has not fetched.
func (s StandIn) IsPointer() bool { return strings.HasPrefix(s.Next, fetchFirst) }

// standIns are the stand-ins by the starts of their files.
var standIns = []struct {
	start string
	StandIn
}{
	{"version https://git-lfs.github.com/spec/v", StandIn{"a Git LFS pointer", fetchFirst + "lfs pull"}},
	{"version https://hawser.github.com/spec/v", StandIn{"a Git LFS pointer", fetchFirst + "lfs pull"}},
	{"\x80\x1d\x30\x01", StandIn{"encrypted by NetEase's Minecraft", decryptFirst + ": after its first 4 bytes, each file is XORed with a key, the difference between CURRENT and the MANIFEST's name"}},
	{"\x90\x1d\x30\x01", StandIn{"encrypted by NetEase's Minecraft", decryptFirst}},
}

// StandInOf returns the StandIn that a file is, if any, given its start or the error of opening it. git-annex has
// dangling links for files that are not present. No block starts like a stand-in: isText tells text from blocks,
// and NetEase's start would be a Snappy block whose first entry shares 1 byte with the key before, or a stored
// deflate block with a wrong length.
func StandInOf(path string, start []byte, err error) (StandIn, bool) {
	if errors.Is(err, fs.ErrNotExist) {
		target, _ := os.Readlink(path)
		start = []byte(filepath.ToSlash(target))
	}
	for _, s := range standIns {
		if bytes.HasPrefix(start, []byte(s.start)) {
			return s.StandIn, true
		}
	}
	line, more, _ := strings.Cut(string(start[:min(len(start), 4<<10)]), "\n")
	isLink := more == "" && strings.HasPrefix(strings.TrimLeft(line, "./"), strings.TrimPrefix(annexLink, "."))
	switch {
	case strings.HasPrefix(line, "/annex/objects/"), isLink, err != nil && strings.Contains(line, annexLink):
		return StandIn{"a git-annex pointer", fetchFirst + "annex get " + format.ShellPath(path)}, true
	case errors.Is(err, fs.ErrNotExist) && len(start) > 0:
		return StandIn{"a link to a file that does not exist", "restore the file, or remove the link"}, true
	}
	return StandIn{}, false
}

// InPlaceOfTable returns the error for a stand-in of a table. In a database, it is damage: the entries are lost.
func (s StandIn) InPlaceOfTable(inDatabase bool) error {
	message := fmt.Sprintf("%s, not a LevelDB table: %s", s.What, s.Next)
	if inDatabase {
		return Corruption(message)
	}
	return errors.New(message)
}

// startLen is the length of the start of a file that is examined: one block of a log, with its first record.
const startLen = 32 << 10

// ReadStart returns the start of a file, as far as it is readable.
func ReadStart(path string) ([]byte, error) {
	f, _, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	return StartOf(f), nil
}

// StartOf is ReadStart for an open file.
func StartOf(f io.ReaderAt) []byte {
	start := make([]byte, startLen)
	n, _ := f.ReadAt(start, 0) // the next read returns the error
	return start[:n]
}

// ReadAt reads n bytes at an offset.
func ReadAt(r io.ReaderAt, at, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(io.NewSectionReader(r, at, n), b)
	return b, err
}
