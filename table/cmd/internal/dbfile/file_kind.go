package dbfile

import (
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
)

// A FileKind is the kind of a database file other than a table.
type FileKind string

// The files of a database other than tables.
const (
	CurrentFile  FileKind = "the CURRENT file of a database"
	ManifestFile FileKind = "the MANIFEST of a database"
	LogFile      FileKind = "the log of a database"
	RecordFile   FileKind = "a file in LevelDB's log format whose records are not write batches, such as a Firestore export"
	PebbleLog    FileKind = "a log of Pebble, or of RocksDB with recycled logs"
)

// FileKindOf returns the kind of a file, by its name or its start, or "" for what may be a
// table.
func FileKindOf(path string, o Options) (FileKind, error) {
	f, err := OpenRegular(path, o.Outputs)
	if err != nil {
		return "", err
	}
	defer f.Close()
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
	_, namedLog := versions.LogNumber(name)
	switch {
	case name == "CURRENT", versions.IsManifest(strings.TrimSuffix(string(start), "\n")): // which CURRENT has
		return CurrentFile
	case versions.IsManifest(name), isLog && namesComparer(record):
		return ManifestFile
	case wal.StartsWithPebbleFragment(start):
		return PebbleLog
	case namedLog:
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
		if err := r.read(o, keep, yield); err != nil {
			yield(Record{}, err)
		}
	}
}

// read yields the records. It returns nil if yield wants no more.
func (r *Records) read(o Options, keep int, yield func(Record, error) bool) error {
	f, err := OpenRegular(r.Path, o.Outputs)
	if err != nil {
		return err
	}
	defer f.Close()
	if r.Size = f.Size; o.WrapReader != nil {
		f.Src = o.WrapReader(f.Src)
	}
	var damage error
	in, err := wal.NewLogReader(f.Src, f.Size, func(d wal.Damage) { damage = d })
	if err != nil {
		return f.Wrap(err)
	}
	in.KeepHeads(keep)
	for {
		record, _, err := in.Next()
		switch {
		case damage != nil:
			return f.Wrap(damage)
		case err == io.EOF:
			end := wal.Log{Tail: f.Size - in.Offset(), ZeroTail: in.EndsInZeros()}
			r.Note = end.UnwrittenNote()
			return nil
		case err != nil:
			return f.Wrap(err)
		case !yield(Record{record, in.RecordLen()}, nil):
			return nil
		}
	}
}

// IsEmpty reports whether a file is empty.
func IsEmpty(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}
