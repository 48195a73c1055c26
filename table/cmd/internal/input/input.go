// Package input reads key-value pairs from text and from directories.
package input

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Pair is a key and its value. Both are valid until the next pair is read.
type Pair struct{ Key, Value []byte }

// Options say how input is read.
type Options struct {
	Format       string       // one of Formats; "": json, raw-keys or tsv, by the name of the input
	InternalKeys bool         // lines also have a sequence number and a kind: the trailer of the key
	WholeLines   bool         // an input whose last line has no newline is an error
	KeysOnly     bool         // values do not matter: lines of columns may have none
	Outputs      output.Files // of the command: none may be an input, and in directories they are skipped with a note
	Temporary    output.Files // of the command: in directories they are skipped
	Memory       memory.Limit // limits the size of lines, and of files in directories
}

// FormatNames are the names of the line formats.
var FormatNames = []string{"tsv", "json", "hex", "raw", "keys", "raw-keys"}

// Formats lists them.
var Formats = text.OneOf(FormatNames...)

// Check returns an error if an input must not be read.
func (o Options) Check(paths []string, stdin io.Reader) error {
	for _, path := range paths {
		if err := o.checkPath(path, stdin); err != nil {
			return err
		}
	}
	return nil
}

// checkPath checks a regular file or a directory. For other inputs, reading returns the
// errors.
func (o Options) checkPath(path string, stdin io.Reader) error {
	if f, ok := stdin.(*os.File); path == "-" && ok {
		return o.checkFile("standard input", f)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return checkDirectory(path)
	case err != nil || !info.Mode().IsRegular():
		return nil
	}
	f, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(o.checkFile(path, f), f.Close())
}

// checkDirectory returns an error for the directory of a database. Its files are no pairs.
func checkDirectory(path string) error {
	name, err := versions.FindCurrentOrManifest(path)
	if name != "" {
		err = fmt.Errorf("%s: the directory of a database, because it has %s: to build a table of its entries, use sst merge %s -o OUT",
			path, name, text.ShellPath(path))
	}
	return err
}

func (o Options) checkFile(path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := o.Outputs.Check(path, info); err != nil {
		return err
	}
	var end [8]byte
	if n, _ := f.ReadAt(end[:], info.Size()-int64(len(end))); n == len(end) && binary.LittleEndian.Uint64(end[:]) == format.Magic {
		return fmt.Errorf("%s: a table, want lines: to rewrite a table, use sst convert; to print its entries, use sst scan", path)
	}
	return nil
}

// TotalSize returns the size of all files, or -1 if it is unknown. Missing files count as empty.
func TotalSize(paths []string) int64 {
	var n int64
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		n += info.Size()
	}
	return n
}
