package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A standIn is what is in the place of a file of a database, of any kind: a pointer to it, which a
// repository has before the file is fetched, or the file encrypted. No crash makes such a file of
// another one.
type standIn struct{ what, next string }

// Starts of files that are stand-ins.
const (
	lfsStart       = "version https://git-lfs.github.com/spec/v"
	oldLFSStart    = "version https://hawser.github.com/spec/v"
	annexStart     = "/annex/objects/"
	annexLink      = ".git/annex/objects/"
	netEaseStart   = "\x80\x1d\x30\x01"
	oldNetEase     = "\x90\x1d\x30\x01"
	maxPointerLine = 4 << 10
)

const decryptFirst = "decrypt a copy of the whole directory first"

// standInOf returns what the file is that starts with start or that cannot be opened because of err, if it is a
// stand-in: git-annex has links that lead nowhere for files that are not there. No block begins like a stand-in: text
// is told from blocks by isText, and NetEase's start would be a block of Snappy whose first entry shares 1 byte with
// the key before, or a block that is stored by deflate with a wrong length.
func standInOf(path string, start []byte, err error) (standIn, bool) {
	if errors.Is(err, fs.ErrNotExist) {
		target, _ := os.Readlink(path)
		start = []byte(filepath.ToSlash(target))
	}
	line, more, _ := strings.Cut(string(start[:min(len(start), maxPointerLine)]), "\n")
	isLink := more == "" && strings.HasPrefix(strings.TrimLeft(line, "./"), strings.TrimPrefix(annexLink, "."))
	switch {
	case strings.HasPrefix(line, lfsStart), strings.HasPrefix(line, oldLFSStart):
		return standIn{"a Git LFS pointer", "fetch the file that it stands for: git lfs pull"}, true
	case strings.HasPrefix(line, annexStart), isLink, err != nil && strings.Contains(line, annexLink):
		return standIn{"a git-annex pointer", "fetch the file that it stands for: git annex get " + text.ShellPath(path)}, true
	case bytes.HasPrefix(start, []byte(netEaseStart)):
		return standIn{"encrypted by NetEase's Minecraft", decryptFirst + ": behind the first 4 bytes of its files, all bytes are XORed with a key, which is what CURRENT and the name of the MANIFEST differ by"}, true
	case bytes.HasPrefix(start, []byte(oldNetEase)):
		return standIn{"encrypted by NetEase's Minecraft", decryptFirst}, true
	case errors.Is(err, fs.ErrNotExist) && len(start) > 0:
		return standIn{"a link to a file that does not exist", "restore that file, or remove the link"}, true
	}
	return standIn{}, false
}

// inPlaceOfTable returns the error for a stand-in. In a database it is the loss of what the table has.
func (s standIn) inPlaceOfTable(inDatabase bool) error {
	message := fmt.Sprintf("%s, not a LevelDB table: %s", s.what, s.next)
	if inDatabase {
		return corruption(message)
	}
	return errors.New(message)
}

// checkCurrent returns an error if CURRENT or the MANIFESTs of a directory are stand-ins.
func (d *Dir) checkCurrent(names []string) error {
	for _, name := range slices.Sorted(slices.Values(names)) {
		if !versions.IsCurrentOrManifest(name) {
			continue
		}
		path := filepath.Join(d.Path, name)
		start, err := readStart(path)
		if s, found := standInOf(path, start, err); found {
			return &FileError{path, fmt.Errorf("%s, so the database cannot be read: %s", s.what, s.next)}
		}
	}
	return nil
}

// checkEngine returns an error for the directory of another engine's database.
func (d *Dir) checkEngine(names []string) error {
	options, current := "", false
	for _, name := range names {
		switch {
		case name == "IDENTITY", strings.HasPrefix(name, "OPTIONS-"):
			options = max(options, name)
		case name == "CURRENT", strings.HasPrefix(name, "marker.manifest."):
			current = true
		}
	}
	if options == "" {
		return d.checkLogs()
	}
	if !current {
		return nil
	}
	engine, reader := "RocksDB", "ldb --db=%s scan"
	if start, _ := readStart(filepath.Join(d.Path, options)); bytes.Contains(start, []byte("pebble_version")) {
		engine, reader = "Pebble", "pebble db scan %s"
	}
	return fmt.Errorf("%s: the directory of a %s database, as %s shows, not of a LevelDB database: read it with %s",
		d.Path, engine, options, fmt.Sprintf(reader, text.ShellPath(d.Path)))
}

// checkLogs is checkEngine for a directory without OPTIONS: its logs can show that it is Pebble's.
func (d *Dir) checkLogs() error {
	for _, path := range d.Logs {
		start, _ := readStart(path) // what reads it next returns the error
		if wal.StartsWithPebbleFragment(start) {
			return &FileError{path, fmt.Errorf("%s, not of LevelDB: read it with pebble wal dump %s", PebbleLog, text.ShellPath(path))}
		}
	}
	return nil
}

// startLen is how much of the start of a file is examined: one block of a log, which has its
// first record.
const startLen = 32 << 10

// readStart returns the start of a file, as far as it can be read.
func readStart(path string) ([]byte, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	return startOf(f), nil
}

// startOf is readStart for an open file.
func startOf(f io.ReaderAt) []byte {
	start := make([]byte, startLen)
	n, _ := f.ReadAt(start, 0) // what reads the file next returns the error
	return start[:n]
}

// readAt reads n bytes at an offset.
func readAt(r io.ReaderAt, at, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(io.NewSectionReader(r, at, n), b)
	return b, err
}
