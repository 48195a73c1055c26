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

// standInOf returns what the file is that starts with head, if it is a stand-in. No block begins like
// one: text is told from blocks by isText, and NetEase's start would be a block of Snappy whose first
// entry shares 1 byte with the key before, or a block that is stored by deflate with a wrong length.
func standInOf(path string, head []byte) (standIn, bool) {
	line, more, _ := strings.Cut(string(head[:min(len(head), maxPointerLine)]), "\n")
	isLink := more == "" && strings.HasPrefix(strings.TrimLeft(line, "./"), strings.TrimPrefix(annexLink, "."))
	switch {
	case strings.HasPrefix(line, lfsStart), strings.HasPrefix(line, oldLFSStart):
		return standIn{"a Git LFS pointer", "fetch the file that it stands for: git lfs pull"}, true
	case strings.HasPrefix(line, annexStart), isLink:
		return standIn{"a git-annex pointer", "fetch the file that it stands for: git annex get " + text.ShellPath(path)}, true
	case bytes.HasPrefix(head, []byte(netEaseStart)):
		return standIn{"encrypted by NetEase's Minecraft", decryptFirst + ": behind the first 4 bytes of its files, all bytes are XORed with a key, which is what CURRENT and the name of the MANIFEST differ by"}, true
	case bytes.HasPrefix(head, []byte(oldNetEase)):
		return standIn{"encrypted by NetEase's Minecraft", decryptFirst}, true
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

// inPlaceOfLog says what is wrong with a log that is a stand-in.
func (s standIn) inPlaceOfLog() string { return s.what + " (" + s.next + ")" }

// standInAt is standInOf for an open file.
func standInAt(path string, f io.ReaderAt) (standIn, bool) {
	head := make([]byte, maxPointerLine)
	n, _ := f.ReadAt(head, 0) // what reads the file next returns the error
	return standInOf(path, head[:n])
}

// standInLink returns what a symbolic link is that leads nowhere, if it is a stand-in: git-annex has such
// links for files that are not there.
func standInLink(path string, err error) (standIn, bool) {
	target, linkErr := os.Readlink(path)
	if !errors.Is(err, fs.ErrNotExist) || linkErr != nil || !strings.Contains(filepath.ToSlash(target), annexLink) {
		return standIn{}, false
	}
	return standInOf(path, []byte(annexStart))
}

// checkCurrent returns an error if CURRENT or the MANIFESTs of a directory are stand-ins.
func (d *Dir) checkCurrent(names []string) error {
	for _, name := range slices.Sorted(slices.Values(names)) {
		if !versions.IsCurrentOrManifest(name) {
			continue
		}
		path := filepath.Join(d.Path, name)
		f, _, err := regular.Open(path)
		s, found := standInLink(path, err)
		if err == nil {
			s, found = standInAt(path, f)
			f.Close() // it was only read
		}
		if found {
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
	if start, err := readStart(filepath.Join(d.Path, options)); err == nil && bytes.Contains(start, []byte("pebble_version")) {
		engine, reader = "Pebble", "pebble db scan %s"
	}
	return fmt.Errorf("%s: the directory of a %s database, as %s shows, not of a LevelDB database: read it with %s",
		d.Path, engine, options, fmt.Sprintf(reader, text.ShellPath(d.Path)))
}

// checkLogs is checkEngine for a directory without OPTIONS: its logs can show that it is Pebble's.
func (d *Dir) checkLogs() error {
	for _, path := range d.Logs {
		f, _, err := regular.Open(path)
		if err != nil {
			continue // what reads it next returns the error
		}
		head := make([]byte, headLen)
		n, _ := f.ReadAt(head, 0)
		f.Close() // it was only read
		if wal.StartsWithPebbleFragment(head[:n]) {
			return &FileError{path, fmt.Errorf("%s, not of LevelDB: read it with pebble wal dump %s", PebbleLog, text.ShellPath(path))}
		}
	}
	return nil
}

// readStart returns the start of a small text file.
func readStart(path string) ([]byte, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	return io.ReadAll(io.LimitReader(f, 1<<10))
}
