package source

import (
	"errors"
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
	f, err := openRegular(path, o.Outputs)
	if err != nil {
		return "", err
	}
	defer f.Close()
	start, err := readAt(f.Src, 0, min(f.Size, startLen))
	if s, found := standInOf(path, start, nil); found {
		err = errors.New(s.what + ": " + s.next)
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
