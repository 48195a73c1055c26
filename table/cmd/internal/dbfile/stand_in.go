package dbfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A StandIn is what is in the place of a file of a database, of any kind: a pointer to it, which a
// repository has before the file is fetched, or the file encrypted. No crash makes such a file of
// another one.
type StandIn struct{ What, Next string }

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

// StandInOf returns what the file is that starts with start or that cannot be opened because of err, if it is a
// stand-in: git-annex has links that lead nowhere for files that are not there. No block begins like a stand-in: text
// is told from blocks by isText, and NetEase's start would be a block of Snappy whose first entry shares 1 byte with
// the key before, or a block that is stored by deflate with a wrong length.
func StandInOf(path string, start []byte, err error) (StandIn, bool) {
	if errors.Is(err, fs.ErrNotExist) {
		target, _ := os.Readlink(path)
		start = []byte(filepath.ToSlash(target))
	}
	line, more, _ := strings.Cut(string(start[:min(len(start), maxPointerLine)]), "\n")
	isLink := more == "" && strings.HasPrefix(strings.TrimLeft(line, "./"), strings.TrimPrefix(annexLink, "."))
	switch {
	case strings.HasPrefix(line, lfsStart), strings.HasPrefix(line, oldLFSStart):
		return StandIn{"a Git LFS pointer", "fetch the file that it stands for: git lfs pull"}, true
	case strings.HasPrefix(line, annexStart), isLink, err != nil && strings.Contains(line, annexLink):
		return StandIn{"a git-annex pointer", "fetch the file that it stands for: git annex get " + text.ShellPath(path)}, true
	case bytes.HasPrefix(start, []byte(netEaseStart)):
		return StandIn{"encrypted by NetEase's Minecraft", decryptFirst + ": behind the first 4 bytes of its files, all bytes are XORed with a key, which is what CURRENT and the name of the MANIFEST differ by"}, true
	case bytes.HasPrefix(start, []byte(oldNetEase)):
		return StandIn{"encrypted by NetEase's Minecraft", decryptFirst}, true
	case errors.Is(err, fs.ErrNotExist) && len(start) > 0:
		return StandIn{"a link to a file that does not exist", "restore that file, or remove the link"}, true
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
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	return StartOf(f), nil
}

// StartOf is readStart for an open file.
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
