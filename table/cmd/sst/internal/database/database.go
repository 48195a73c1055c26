// Package database reads what a LevelDB or goleveldb database says of itself: which
// tables it has.
package database

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
)

// A Version is what a database consists of.
type Version struct {
	Manifest     string  // the name of the file that says so
	Comparer     string  // the name of its order
	LastSequence uint64  // the highest sequence number in its tables, or above
	Tables       []Table // by level, and then by number

	log, previousLog uint64
}

// A Table is one of a database.
type Table struct {
	Level             int
	Number            uint64
	Size              uint64 // bytes
	Smallest, Largest []byte // its first and its last internal key
}

// Live reports whether the log with the number has writes that may be in no table yet.
// Those of others are.
func (v *Version) Live(log uint64) bool { return log >= v.log || log == v.previousLog }

// ManifestName matches what a MANIFEST is called.
var ManifestName = regexp.MustCompile(`^MANIFEST-[0-9]+$`)

// What is larger no database has, or few: a MANIFEST is written anew when the database is
// opened.
const (
	maxCurrent  = 4 << 10
	maxManifest = 256 << 20
	maxTables   = 1 << 20
	maxLevel    = 63
)

// Read reads the version that the directory's files CURRENT and MANIFEST-… give. It is
// fs.ErrNotExist if there is no CURRENT.
func Read(dir string) (*Version, error) {
	name, err := readCurrent(filepath.Join(dir, "CURRENT"))
	if err != nil {
		return nil, err
	}
	v, err := ReadManifest(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s names %s, which does not exist", filepath.Join(dir, "CURRENT"), name)
	}
	return v, err
}

// ReadManifest reads the version that a MANIFEST of the directory gives.
func ReadManifest(dir, name string) (*Version, error) {
	path := filepath.Join(dir, name)
	f, size, err := open(path, maxManifest)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	v, err := readVersion(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	v.Manifest = name
	return v, nil
}

// readCurrent returns the name of the MANIFEST.
func readCurrent(path string) (string, error) {
	f, size, err := open(path, maxCurrent)
	if err != nil {
		return "", err
	}
	defer f.Close() // it was only read
	current, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(string(current), "\n")
	if !ManifestName.MatchString(name) {
		return "", fmt.Errorf("%s names %q, want the name of a MANIFEST", path, name)
	}
	return name, nil
}

// open opens a file of most bytes at most.
func open(path string, most int64) (f *os.File, size int64, err error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if size = info.Size(); size > most {
		return nil, 0, errors.Join(fmt.Errorf("%s: %d bytes, want at most %d", path, size, most), f.Close())
	}
	return f, size, nil
}
