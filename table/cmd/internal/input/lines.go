package input

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/keylines"
)

// lines yields the pairs of lines.
func (r *Reader) lines(ctx context.Context, name string, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := r.Options
	p := parser{lineFormat: o.formatOf(name), internal: o.InternalKeys, keysOnly: o.KeysOnly}
	lines := bufio.NewScanner(interruptible(ctx, r.bar.Reader(in)))
	lines.Buffer(make([]byte, bufferSize), o.Memory.MaxPair()+1)
	lines.Split(o.split)
	n, returns, encoding := 0, 0, keylines.Encoding{}
	raw := p.raw && o.Format != "" // if it is guessed, other text is not
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
			line = r.withoutMark(name, line, raw)
		}
		if err := p.parse(line); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if o.Format == "" && p.keys && !r.tabs && bytes.IndexByte(p.Key, '\t') >= 0 {
			r.tabs = true
			r.note("lines of %s have tabs, which are part of the keys: for keys and values, use --input-format tsv, or raw without escapes", name)
		}
		if err := r.pair(p.Pair, name, n); err != nil {
			return err
		}
	}
	switch err := lines.Err(); err {
	case nil:
		if p.last != "" && n > 0 && returns == n {
			r.note(`every line of %s ends in "\r", which is part of each %s: to remove it, use tr -d '\r' on the input`, name, p.last)
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

// formatOf returns the format of the input with this name.
func (o Options) formatOf(name string) lineFormat {
	if o.Format != "" {
		return formats[o.Format]
	}
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case slices.Contains([]string{".json", ".jsonl", ".ndjson"}, ext):
		return formats["json"]
	case ext == ".txt" && !o.InternalKeys:
		return formats["raw-keys"]
	}
	return formats["tsv"]
}

// withoutMark returns the first line of an input without a byte order mark of UTF-8. If the format is raw, the mark is
// part of the first key.
func (r *Reader) withoutMark(name string, line []byte, raw bool) []byte {
	rest, had := keylines.TrimMark(line)
	switch {
	case had && raw:
		r.note(`%s starts with a UTF-8 byte order mark, which is part of the first key: to remove it, use sed '1s/^\xef\xbb\xbf//' on the input`, name)
		return line
	case had:
		r.note("%s", keylines.MarkNote(name))
	}
	return rest
}

var errNoNewline = errors.New("the last line has no newline: what wrote the input may have ended early; if this is its end, use --no-final-newline")

// split is keylines.Split, with WholeLines for lines that end in a newline only.
func (o Options) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if o.WholeLines && atEOF && len(data) > 0 && !bytes.ContainsRune(data, '\n') {
		return 0, nil, errNoNewline
	}
	return keylines.Split(data, atEOF)
}

// bufferSize is how many bytes of an input are read at once.
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
