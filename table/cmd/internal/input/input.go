// Package input reads key-value pairs from text and from directories.
package input

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Pair is a key and its value. Both are valid until the next pair is read.
type Pair struct{ Key, Value []byte }

// Options say how input is read.
type Options struct {
	Format       string // one of Formats; "": json, raw-keys or tsv, by the name of the input
	InternalKeys bool   // lines also have a sequence number and a kind: the trailer of the key
	WholeLines   bool   // an input whose last line has no newline is an error
	KeysOnly     bool   // values do not matter: lines of columns may have none

	// Outputs are the files that the command writes. None may be an input. In directories
	// they are skipped, and OnLeftOut, if not nil, is called with each path.
	Outputs   output.Files
	OnLeftOut func(path string)

	// Temporary are temporary files of the command. In directories they are skipped.
	Temporary output.Files

	// OnCarriageReturns, if not nil, is called for each input whose every line ends in a carriage
	// return, if part is what that belongs to: "key" or "value".
	OnCarriageReturns func(name, part string)

	// OnByteOrderMark, if not nil, is called for each input that starts with a byte order mark of UTF-8. It is left
	// out, but of a format that takes all bytes as they are, it is part of the first key.
	OnByteOrderMark func(name string, kept bool)

	// Memory limits the size of lines, and of files in directories.
	Memory memory.Limit

	// Place, if not nil, is set to the place of each pair before it is yielded.
	Place *Place

	// WrapReader, if not nil, wraps each input, to show progress.
	WrapReader func(io.Reader) io.Reader
}

// A Place is where a pair is from.
type Place struct {
	Name string // of the input or, in a directory, of the file
	Line int    // 0: the pair is a file
}

func (p Place) String() string {
	if p.Line == 0 {
		return p.Name
	}
	return fmt.Sprintf("%s, line %d", p.Name, p.Line)
}

func (o Options) setPlace(p Place) {
	if o.Place != nil {
		*o.Place = p
	}
}

// FormatNames are the names of the line formats.
var FormatNames = []string{"tsv", "json", "hex", "raw", "keys", "raw-keys"}

// Formats lists them.
var Formats = text.OneOf(FormatNames...)

var parsers = map[string]func(p *parser, line []byte) error{
	"tsv":      (*parser).tsv,
	"json":     (*parser).json,
	"hex":      (*parser).hex,
	"keys":     (*parser).keys,
	"raw":      (*parser).raw,
	"raw-keys": (*parser).rawKeys,
}

// Check returns an error if the format is unknown, or if an input must not be read.
func (o Options) Check(paths []string, stdin io.Reader) error {
	if _, ok := parsers[o.Format]; !ok && o.Format != "" {
		return cli.UsageErrorf("--input-format is %s, not %s", wire.Quote([]byte(o.Format)), Formats)
	}
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

// Read yields the pairs of the inputs, one input after the other. An input is a file with
// one pair per line, "-" for stdin, or a directory. Errors name the input and the line.
// When ctx ends, Read stops waiting for input.
func Read(ctx context.Context, paths []string, stdin io.Reader, o Options) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		for _, path := range paths {
			if more, err := o.read(ctx, path, stdin, yield); err != nil {
				yield(Pair{}, err)
				return
			} else if !more {
				return
			}
		}
	}
}

// read yields the pairs of one input. It reports whether yield wants more.
func (o Options) read(ctx context.Context, path string, stdin io.Reader, yield func(Pair, error) bool) (more bool, err error) {
	if path == "-" {
		return o.lines(ctx, "standard input", stdin, yield)
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.IsDir() {
		return o.directory(path, yield)
	}
	return o.lines(ctx, path, f, yield)
}

// formatOf returns the format of the input with this name.
func (o Options) formatOf(name string) string {
	if o.Format != "" {
		return o.Format
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".jsonl", ".ndjson":
		return "json"
	}
	if strings.ToLower(filepath.Ext(name)) == ".txt" && !o.InternalKeys {
		return "raw-keys"
	}
	return "tsv"
}

// directory yields a pair for each regular file below dir: its slash path, and its
// contents.
func (o Options) directory(dir string, yield func(Pair, error) bool) (more bool, err error) {
	if o.InternalKeys {
		return false, fmt.Errorf("%s: a directory, whose files have no sequence numbers: do not use --internal-keys", dir)
	}
	more = true
	var buf []byte
	root := dir + string(filepath.Separator) // with a separator, a link to a directory is followed
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if out, err := o.isOutput(path, d); err != nil || out {
			return err
		}
		key, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if buf, err = o.contents(path, buf); err != nil {
			return err
		}
		o.setPlace(Place{Name: path})
		if more = yield(Pair{[]byte(filepath.ToSlash(key)), buf}, nil); !more {
			return fs.SkipAll
		}
		return nil
	})
	return more && err == nil, err
}

// isOutput reports whether a file in a directory is written by the command.
func (o Options) isOutput(path string, d fs.DirEntry) (bool, error) {
	info, err := d.Info()
	if err != nil {
		return false, err
	}
	out := o.Outputs.Has(info)
	if out && o.OnLeftOut != nil {
		o.OnLeftOut(path)
	}
	return out || o.Temporary.Has(info), nil
}
