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

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
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

// FileKindOf returns the kind of a file, by its name or its start, or "" for what may be a
// table.
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

// kind returns the kind of a file with this start. A file in the format of logs whose records are no
// batches is a RecordFile, unless it has the name of a log: then the records are damage.
func (f *File) kind(start []byte) FileKind {
	name := filepath.Base(f.Path)
	record, isLog := wal.FirstFragment(start)
	switch {
	case name == "CURRENT", versions.IsManifest(strings.TrimSuffix(string(start), "\n")): // which CURRENT has
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
	if none, err := wal.HasNoBatches(f.Src, f.Size); none && err == nil { // what reads the file next returns the error
		return RecordFile
	}
	return LogFile
}

// IsLog reports whether a file has the extension of a log.
func IsLog(path string) bool { return filepath.Ext(path) == ".log" }

// IsLogFile reports whether a file has the extension of a log, and does not begin like another kind of file.
func IsLogFile(path string, o Options) bool {
	if !IsLog(path) {
		return false
	}
	kind, _ := FileKindOf(path, o) // opening it returns the error
	return kind == "" || kind == LogFile
}

// namesComparer reports whether a record is the first version edit of a MANIFEST. Its field
// 1 is the name of the comparator. A batch of a log starts with a sequence number of 8
// bytes, whose last byte is 0 and not part of a name.
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
	Size int64  // after All began
	Note string // what is at its end and no record, after All ended; "": nothing
}

// A Record is a record, or the start of one.
type Record struct {
	Bytes []byte // valid until the next
	Len   int    // of all of it
}

// All yields the records of the file, of each up to keep bytes. Any damage is an error: there was none when the
// file was found to be a RecordFile.
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

// A StandIn is what is in the place of a file of a database, of any kind: a pointer to it, which a
// repository has before the file is fetched, or the file encrypted. No crash makes such a file of
// another one.
type StandIn struct{ What, Next string }

const (
	decryptFirst = "decrypt a copy of the whole directory first"
	fetchFirst   = "fetch the file that it stands for: git "
	annexLink    = ".git/annex/objects/"
)

// standIns are the starts of files that are stand-ins.
var standIns = []struct {
	start string
	StandIn
}{
	{"version https://git-lfs.github.com/spec/v", StandIn{"a Git LFS pointer", fetchFirst + "lfs pull"}},
	{"version https://hawser.github.com/spec/v", StandIn{"a Git LFS pointer", fetchFirst + "lfs pull"}},
	{"\x80\x1d\x30\x01", StandIn{"encrypted by NetEase's Minecraft", decryptFirst + ": after its first 4 bytes, each file is XORed with a key, the difference between CURRENT and the MANIFEST's name"}},
	{"\x90\x1d\x30\x01", StandIn{"encrypted by NetEase's Minecraft", decryptFirst}},
}

// StandInOf returns what the file is that starts with start or that cannot be opened because of err, if it is a
// stand-in: git-annex has links that lead nowhere for files that are not there. No block begins like a stand-in: text
// is told from blocks by isText, and NetEase's start would be a block of Snappy whose first entry shares 1 byte with
// the key before, or a block that is stored by deflate with a wrong length.
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
		return StandIn{"a git-annex pointer", fetchFirst + "annex get " + text.ShellPath(path)}, true
	case errors.Is(err, fs.ErrNotExist) && len(start) > 0:
		return StandIn{"a link to a file that does not exist", "restore the file, or remove the link"}, true
	}
	return StandIn{}, false
}

// InPlaceOfTable returns the error for a stand-in. In a database it is the loss of what the table has.
func (s StandIn) InPlaceOfTable(inDatabase bool) error {
	message := fmt.Sprintf("%s, not a LevelDB table: %s", s.What, s.Next)
	if inDatabase {
		return Corruption(message)
	}
	return errors.New(message)
}

// startLen is how much of the start of a file is examined: one block of a log, which has its
// first record.
const startLen = 32 << 10

// ReadStart returns the start of a file, as far as it can be read.
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
	n, _ := f.ReadAt(start, 0) // what reads the file next returns the error
	return start[:n]
}

// ReadAt reads n bytes at an offset.
func ReadAt(r io.ReaderAt, at, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(io.NewSectionReader(r, at, n), b)
	return b, err
}
