// Package versions reads the CURRENT and MANIFEST files of LevelDB and goleveldb databases, which list the tables
// and logs. It also writes MANIFESTs.
package versions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wal"
)

// A Version is the state of a database that its MANIFEST describes.
type Version struct {
	Manifest     string       // name of the MANIFEST
	Comparer     string       // the name of the comparator
	LastSequence uint64       // ≥ every sequence number in the tables: the highest of all edits
	Named        uint64       // the last sequence number in the last edit that has one: engines continue from it
	Tables       []*Table     // by level, and within a level by number, the highest first
	Torn         int64        // bytes of an incomplete edit at the end
	Stored       []wal.Stored // transactions since the last edit that names a log, in order
	Unread       int64        // bytes after headers of zeros, which LevelDB does not read; they may contain edits

	log, previousLog uint64
	hasPrevious      bool // an edit has a previous log, even 0: C++ LevelDB wrote it
	nextFile         uint64
	flushed          uint64 // LastSequence as of the last edit that may have moved writes to tables
	highestLevel     int    // in all fields of all edits
	current          string // contents of CURRENT; "" if it was not read
}

// A Table is a table that the MANIFEST lists.
type Table struct {
	Level             int
	Number            uint64
	Size              uint64 // bytes
	Smallest, Largest []byte // first and last internal key
}

// IsManifest reports whether name is the name of a MANIFEST.
func IsManifest(name string) bool {
	number, ok := strings.CutPrefix(name, "MANIFEST-")
	return ok && isNumber(number)
}

// CompareManifests orders names of MANIFESTs by number. From a million on, the numbers have more than six digits.
func CompareManifests(a, b string) int {
	a, b = strings.TrimLeft(a[len("MANIFEST-"):], "0"), strings.TrimLeft(b[len("MANIFEST-"):], "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// Lists reports whether the version has a table with that number.
func (v *Version) Lists(number uint64) bool {
	return slices.ContainsFunc(v.Tables, func(t *Table) bool { return t.Number == number })
}

// isNumber reports whether s consists of decimal digits.
func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// FindCurrentOrManifest returns the name of a CURRENT or MANIFEST file in a directory. If it returns "", the
// directory does not contain a database.
func FindCurrentOrManifest(dir string) (name string, err error) {
	entries, err := os.ReadDir(dir)
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return IsCurrentOrManifest(e.Name()) })
	if err != nil || i < 0 {
		return "", err
	}
	return entries[i].Name(), nil
}

// IsCurrentOrManifest reports whether name is the name of a CURRENT or MANIFEST file.
func IsCurrentOrManifest(name string) bool {
	return name == "CURRENT" || IsManifest(name)
}

// Limits for reading. Real databases stay below them, since they rewrite the MANIFEST when they are opened.
const (
	maxCurrent  = 4 << 10
	MaxManifest = 256 << 20 // bytes
	MaxTables   = 1 << 20
	maxLevel    = 63
)

// Read reads the version of the database in dir. If the directory has no CURRENT, the error is fs.ErrNotExist.
func Read(dir string) (*Version, error) { return ReadDir(regular.DirOf(dir)) }

// ReadDir is like Read.
func ReadDir(dir regular.Dir) (*Version, error) {
	current, err := readCurrent(dir)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(current, "\n")
	v, err := readManifest(dir, name, current)
	if errors.Is(err, fs.ErrNotExist) {
		err = wal.Corruptionf("%s names %s, which does not exist", dir.Path("CURRENT"), name)
	}
	return v, err
}

// ReadManifest reads the version in a MANIFEST in dir, even if CURRENT does not name it.
func ReadManifest(dir, name string) (*Version, error) {
	current, _ := readCurrent(regular.DirOf(dir)) // Read reports its corruption
	return readManifest(regular.DirOf(dir), name, current)
}

func readManifest(dir regular.Dir, name, current string) (*Version, error) {
	f, _, err := open(dir, name, MaxManifest)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	// To the end, instead of size bytes: the engine may add edits meanwhile.
	edits := io.NewSectionReader(f, 0, MaxManifest)
	v, end, err := readVersion(edits)
	if err == nil {
		size, _ := edits.Seek(0, io.SeekCurrent)
		v.Manifest, v.current = name, current
		v.Torn, err = tornBytes(f, end, size)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir.Path(name), err)
	}
	return v, nil
}

// tornBytes returns the number of bytes of an incomplete edit after the last edit of a MANIFEST. Zeros there are
// preallocated space.
func tornBytes(f io.ReaderAt, end, size int64) (int64, error) {
	head := make([]byte, min(size-end, wal.FragmentHeaderLen))
	if _, err := f.ReadAt(head, end); err != nil && err != io.EOF {
		return 0, err
	}
	if len(bytes.TrimLeft(head, "\x00")) == 0 {
		return 0, nil
	}
	return size - end, nil
}

// Current returns the name of the MANIFEST that CURRENT in dir names.
func Current(dir string) (string, error) {
	current, err := readCurrent(regular.DirOf(dir))
	return strings.TrimSuffix(current, "\n"), err
}

// readCurrent returns the contents of CURRENT: the name of a MANIFEST, and a newline, which may be missing.
func readCurrent(dir regular.Dir) (string, error) {
	f, size, err := open(dir, "CURRENT", maxCurrent)
	if err != nil {
		return "", err
	}
	defer f.Close() // it was only read
	current, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		return "", err
	}
	if name := strings.TrimSuffix(string(current), "\n"); !IsManifest(name) {
		has := "names " + format.Quote([]byte(name)) + ", which is not a MANIFEST"
		switch {
		case size == 0:
			has = "is empty"
		case name != "" && strings.Trim(name, "\x00") == "":
			has = "is zeros"
		}
		return "", wal.Corruptionf("%s %s", dir.Path("CURRENT"), has)
	}
	return string(current), nil
}

// open opens a file of at most most bytes.
func open(dir regular.Dir, name string, most int64) (f regular.File, size int64, err error) {
	f, info, err := dir.Open(name)
	if err != nil {
		return nil, 0, err
	}
	if size = info.Size(); size > most {
		return nil, 0, errors.Join(wal.Corruptionf("%s: %d bytes exceed the limit of %d", dir.Path(name), size, most), f.Close())
	}
	return f, size, nil
}

// FileNumber returns the number in the name of a table or a log.
func FileNumber(path string) (uint64, error) {
	base := filepath.Base(path)
	return strconv.ParseUint(strings.TrimSuffix(base, filepath.Ext(base)), 10, 64)
}

// TableName returns the name that engines give to a table. Old engines gave it the extension .sst.
func TableName(number uint64) string { return fmt.Sprintf("%06d.ldb", number) }

// IsTableName reports whether name has the extension of a table.
func IsTableName(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".ldb" || ext == ".sst"
}

// IsLogName reports whether name is the name of a log.
func IsLogName(name string) bool {
	digits, ok := strings.CutSuffix(name, ".log")
	return ok && isNumber(digits)
}

// LogName returns the name that engines give to a log. They do not read logs with other names.
func LogName(number uint64) string { return fmt.Sprintf("%06d.log", number) }

// LiveLogs returns the logs among the names that may have writes that are not in tables, the oldest first. missing
// contains the numbers of logs that the MANIFEST names but that do not exist. Since engines create a log before
// they name it, these were removed. FindLogs determines which of them are lost.
func (v *Version) LiveLogs(names []string) (live []string, missing []uint64) {
	var numbers []uint64
	for _, name := range names {
		n, err := FileNumber(name)
		if err == nil && name == LogName(n) && (n >= v.log || n == v.previousLog) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		live = append(live, LogName(n))
	}
	return live, slices.DeleteFunc(slices.Compact([]uint64{v.previousLog, v.log}), func(n uint64) bool { return n == 0 || slices.Contains(numbers, n) })
}

// Logged returns the range of sequence numbers that, according to the MANIFEST, are in live logs: > after and ≤
// upTo. C++ LevelDB adds its last sequence number to each edit, and moves writes to tables only by edits that name
// another log. The sequence numbers in tables prove nothing, since compactions drop deletions. goleveldb does not
// name its log in other edits.
func (v *Version) Logged() (after, upTo uint64) { return v.flushed, v.LastSequence }
