// Package input reads pairs from text and from directory trees.
package input

import (
	"bufio"
	"bytes"
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
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
)

// A Pair is a key and its value, both valid until the next one is read.
type Pair struct{ Key, Value []byte }

// Options say how input is read.
type Options struct {
	Format       string // one of Formats, or "" for what the input's name tells, and else tsv
	InternalKeys bool   // lines have sequence number and kind too, which become the key's trailer

	// Outputs are files that are written to. None can be an input. Those in directories
	// are left out, and LeftOut is called with the path of each. nil: nothing.
	Outputs   output.Files
	OnLeftOut func(path string)

	// Temporary are files that are in directories only meanwhile, and left out.
	Temporary output.Files

	// Memory bounds lines and the files of directories.
	Memory memory.Limit

	// WrapReader is put around each input that is read. nil: nothing.
	WrapReader func(io.Reader) io.Reader
}

// Formats are the names of the formats that lines can have.
const Formats = "tsv, json, hex, keys or raw"

var parsers = map[string]func(p *parser, line []byte) error{
	"tsv":  (*parser).tsv,
	"json": (*parser).json,
	"hex":  (*parser).hex,
	"keys": (*parser).keys,
	"raw":  (*parser).raw,
}

// Check returns an error if there is no such format, or an input that must not be read
// as one.
func (o Options) Check(paths []string, stdin io.Reader) error {
	if _, ok := parsers[o.Format]; !ok && o.Format != "" {
		return fmt.Errorf("--format is %q, want %s", o.Format, Formats)
	}
	for _, path := range paths {
		if err := o.checkPath(path, stdin); err != nil {
			return err
		}
	}
	return nil
}

// checkPath checks an input that is a regular file. What else there is reading tells.
func (o Options) checkPath(path string, stdin io.Reader) error {
	if f, ok := stdin.(*os.File); path == "-" && ok {
		return o.checkFile("standard input", f)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(o.checkFile(path, f), f.Close())
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

// Read returns the pairs of the inputs, one after the other: files with a pair on
// each line, "-" for stdin, and directories. Errors say where they are.
// When ctx ends, lines are no longer waited for.
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

// read reads one input, as long as yield wants more.
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

// formatOf is the format that is asked for, or that the name tells.
func (o Options) formatOf(name string) string {
	if o.Format != "" {
		return o.Format
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".jsonl", ".ndjson":
		return "json"
	}
	return "tsv"
}

func (o Options) lines(ctx context.Context, name string, r io.Reader, yield func(Pair, error) bool) (more bool, err error) {
	if o.WrapReader != nil {
		r = o.WrapReader(r)
	}
	r = interruptible(ctx, r)
	p := parser{internal: o.InternalKeys}
	parse := parsers[o.formatOf(name)]
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 256<<10), o.Memory.MaxPair()+1)
	lines.Split(SplitLines)
	n := 0
	for lines.Scan() {
		n++
		if err := parse(&p, lines.Bytes()); err != nil {
			return false, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if !yield(p.Pair, nil) {
			return false, nil
		}
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return false, fmt.Errorf("%s, line %d: %w", name, n+1, o.Memory.LongLineError())
	} else if err != nil {
		return false, fmt.Errorf("%s, after line %d: %w", name, n, err)
	}
	return true, nil
}

// SplitLines is bufio.ScanLines but for carriage returns, which may be a value's.
func SplitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// directory yields the regular files below dir: the slash path there, and the contents.
func (o Options) directory(dir string, yield func(Pair, error) bool) (more bool, err error) {
	if o.InternalKeys {
		return false, fmt.Errorf("%s: a directory, whose files have no sequence numbers: do not use --internal-keys", dir)
	}
	more = true
	var buf []byte
	root := dir + string(filepath.Separator) // so that a link to a directory is followed
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
		if more = yield(Pair{[]byte(filepath.ToSlash(key)), buf}, nil); !more {
			return fs.SkipAll
		}
		return nil
	})
	return more && err == nil, err
}

// isOutput reports whether the file of a directory is written to.
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
