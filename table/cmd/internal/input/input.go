// Package input reads key-value pairs from text and from directories.
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
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/keylines"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/set"
)

// A Pair is a key and its value. Both are valid until the next pair is read.
type Pair struct{ Key, Value []byte }

// Options describes how input is read.
type Options struct {
	Format       string       // one of Formats; "": json, raw-keys or tsv, by the name of the input
	InternalKeys bool         // lines also have a sequence number and a kind, the key's trailer
	WholeLines   bool         // an input must end in a newline
	KeysOnly     bool         // values are not used: lines of columns may lack them
	FilesOnly    bool         // a directory is an error, since its file names are not the wanted keys
	Outputs      output.Files // the command's outputs: they must not be inputs, and are skipped in directories with a note
	Temporary    output.Files // the command's temporary files: they are skipped in directories
	Memory       memory.Limit // limits the size of lines, and of files in directories
}

// standardInput names the input - in messages.
const standardInput = "standard input"

// Formats are the names of the line formats.
var Formats = []string{"tsv", "json", "hex", "raw", "keys", "raw-keys"}

// Check returns an error if a path cannot be an input.
func (o Options) Check(paths []string, stdin io.Reader) error {
	for _, path := range paths {
		if err := o.checkPath(path, stdin); err != nil {
			return err
		}
	}
	return nil
}

// checkPath checks a regular file or a directory. Errors of other inputs are returned when they are read.
func (o Options) checkPath(path string, stdin io.Reader) error {
	if f, ok := stdin.(*os.File); path == "-" && ok {
		return o.checkFile(standardInput, f)
	}
	info, err := files.Stat(path)
	switch {
	case err == nil && info.IsDir() && o.FilesOnly:
		return fmt.Errorf("%s is a directory, not a file of keys: name a file in it", path)
	case err == nil && info.IsDir():
		return checkDirectory(path)
	case err != nil || !info.Mode().IsRegular():
		return nil
	}
	f, _, err := files.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(o.checkFile(path, f), f.Close())
}

// open opens an input, which may be a pipe.
func open(path string) (fs.File, error) {
	if files.IsURL(path) {
		f, _, err := files.Open(path)
		return f, err
	}
	return os.Open(path)
}

// checkDirectory returns an error for the directory of a database or a set, whose files are not pairs.
func checkDirectory(path string) error {
	what := "database"
	name, err := versions.FindCurrentOrManifest(path)
	if name == "" && err == nil && files.Exists(filepath.Join(path, set.ManifestName)) {
		what, name = "set", set.ManifestName
	}
	if name != "" {
		err = fmt.Errorf("%s is a %s (it contains %s). To build a table from it, run: %s",
			path, what, name, files.MergeLine("", path, "OUT"))
	}
	return err
}

func (o Options) checkFile(path string, f regular.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := o.Outputs.Check(path, info); err != nil {
		return err
	}
	var end [8]byte
	if n, _ := f.ReadAt(end[:], info.Size()-int64(len(end))); n == len(end) && binary.LittleEndian.Uint64(end[:]) == format.Magic {
		return fmt.Errorf("%s is a table, not lines: rewrite it with sst convert, or print it with sst scan", path)
	}
	start := make([]byte, 32<<10) // a block of a log
	n, _ := f.ReadAt(start, 0)    // the next read returns the error
	if _, isLog := wal.FirstFragment(start[:n]); isLog {
		return fmt.Errorf("%s is a log or MANIFEST of a database, not lines: list it with sst layout, or print a log with sst scan", path)
	}
	if filepath.Base(path) == "CURRENT" && versions.IsManifest(strings.TrimSuffix(string(start[:n]), "\n")) {
		return checkDirectory(files.Dir(path))
	}
	return nil
}

// TotalSize returns the size of all files, or -1 if it is unknown. Missing files count as empty.
func TotalSize(paths []string) int64 {
	var n int64
	for _, path := range paths {
		info, err := files.Stat(path)
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

// lines yields a pair for each line.
func (r *Reader) lines(ctx context.Context, name string, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := r.Options
	p := parser{lineFormat: formats[o.FormatOf(name)], internal: o.InternalKeys, keysOnly: o.KeysOnly}
	lines := bufio.NewScanner(interruptible(ctx, r.bar.Reader(in)))
	lines.Buffer(make([]byte, bufferSize), o.Memory.MaxPair()+1)
	lines.Split(o.split)
	n, returns, encoding := 0, 0, keylines.Encoding{}
	raw := p.raw && o.Format != "" // a guessed format is not raw
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if bytes.HasSuffix(line, []byte("\r")) {
			returns++
		}
		if encoding.IsUTF16(line) && !raw {
			return fmt.Errorf("%s: %w", name, keylines.ErrUTF16)
		}
		if n == 1 {
			if is, advice := files.Packed(line); is != "" {
				return fmt.Errorf("%s is %s: %s", name, is, strings.Replace(advice, "FILE", shellPath(name), 1))
			}
			line = r.withoutMark(name, line, raw)
		}
		if err := p.parse(line); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if o.Format == "" && p.keys && !r.tabs && bytes.IndexByte(p.Key, '\t') >= 0 {
			r.tabs = true
			r.note("%s contains tabs, which become part of the keys: for keys and values, use --input-format tsv (or raw, without escapes)", name)
		}
		if err := r.pair(p.Pair, name, n); err != nil {
			return err
		}
	}
	switch err := lines.Err(); err {
	case nil:
		if p.last != "" && n > 0 && returns == n {
			r.note(`every line of %s ends in "\r", which becomes part of each %s: to remove it, use tr -d '\r' on the input`, name, p.last)
		}
		return nil
	case bufio.ErrTooLong:
		return fmt.Errorf("%s, line %d: %w", name, n+1, o.Memory.LongLineError())
	case errNoNewline:
		return fmt.Errorf("%s, line %d: %w", name, n+1, err)
	default:
		return fmt.Errorf("%s, after line %d: %w", name, n, err)
	}
}

// shellPath returns the path of an input for a command line.
func shellPath(name string) string {
	if name == standardInput {
		return "-"
	}
	return format.ShellPath(name)
}

// FormatOf returns the name of the format of the input with this name.
func (o Options) FormatOf(name string) string {
	if o.Format != "" {
		return o.Format
	}
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case slices.Contains([]string{".json", ".jsonl", ".ndjson"}, ext):
		return "json"
	case ext == ".txt" && !o.InternalKeys:
		return "raw-keys"
	}
	return "tsv"
}

// withoutMark returns the first line of an input without a UTF-8 byte order mark. In a raw format, the mark is
// part of the first key.
func (r *Reader) withoutMark(name string, line []byte, raw bool) []byte {
	rest, had := keylines.TrimMark(line)
	switch {
	case had && raw:
		r.note(`%s starts with a UTF-8 byte order mark, which becomes part of the first key: to remove it, use sed '1s/^\xef\xbb\xbf//' on the input`, name)
		return line
	case had:
		r.note("%s", keylines.MarkNote(name))
	}
	return rest
}

var errNoNewline = errors.New("the last line has no newline, so the input may be cut short: if it is complete, use --no-final-newline")

// split is keylines.Split, but with WholeLines it returns an error for a last line without a newline.
func (o Options) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if o.WholeLines && atEOF && len(data) > 0 && !bytes.ContainsRune(data, '\n') {
		return 0, nil, errNoNewline
	}
	return keylines.Split(data, atEOF)
}

// bufferSize is the number of bytes of an input that are read at once.
const bufferSize = 256 << 10

// interruptible returns a reader of r whose Read returns an error when ctx ends, even while
// r blocks. What r reads afterwards is lost.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.CopyBuffer(in, struct{ io.Reader }{r}, make([]byte, bufferSize)) // a WriterTo would have its own buffer
		in.CloseWithError(err)
	}()
	return out
}
