package input

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/keylines"
)

// lines yields the pairs of lines.
func (o Options) lines(ctx context.Context, name string, r io.Reader, yield func(Pair, error) bool) (more bool, err error) {
	if o.WrapReader != nil {
		r = o.WrapReader(r)
	}
	r = interruptible(ctx, r)
	p := parser{internal: o.InternalKeys, keysOnly: o.KeysOnly}
	parse := parsers[o.formatOf(name)]
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 256<<10), o.Memory.MaxPair()+1)
	lines.Split(o.split)
	n, returns, encoding := 0, 0, keylines.Encoding{}
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if bytes.HasSuffix(line, carriageReturn) {
			returns++
		}
		if encoding.IsUTF16(line) && !o.isRaw() {
			return false, fmt.Errorf("%s: %w", name, keylines.ErrUTF16)
		}
		if n == 1 {
			line = o.withoutMark(name, line)
		}
		if err := parse(&p, line); err != nil {
			return false, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		o.setPlace(Place{name, n})
		if !yield(p.Pair, nil) {
			return false, nil
		}
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return false, fmt.Errorf("%s, line %d: %w", name, n+1, o.Memory.LongLineError())
	} else if err == errNoNewline {
		return false, fmt.Errorf("%s, line %d: %w", name, n+1, err)
	} else if err != nil {
		return false, fmt.Errorf("%s, after line %d: %w", name, n, err)
	}
	if part := lastPart[o.formatOf(name)]; part != "" && n > 0 && returns == n && o.OnCarriageReturns != nil {
		o.OnCarriageReturns(name, part)
	}
	return true, nil
}

// isRaw reports whether the format was given as one that takes all bytes as they are.
func (o Options) isRaw() bool { return o.Format == "raw" || o.Format == "raw-keys" }

// withoutMark returns the first line of an input without a byte order mark, or as it is if the format is raw.
func (o Options) withoutMark(name string, line []byte) []byte {
	rest, had := keylines.TrimMark(line)
	if had && o.OnByteOrderMark != nil {
		o.OnByteOrderMark(name, o.isRaw())
	}
	if o.isRaw() {
		return line
	}
	return rest
}

var carriageReturn = []byte("\r")

// lastPart is what a carriage return at the end of a line belongs to, by format.
var lastPart = map[string]string{"tsv": "value", "raw": "value", "keys": "key", "raw-keys": "key"}

var errNoNewline = errors.New("the last line has no newline: what wrote the input may have ended early; if this is its end, use --no-final-newline")

// split is keylines.Split, with WholeLines for lines that end in a newline only.
func (o Options) split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if o.WholeLines && atEOF && len(data) > 0 && !bytes.ContainsRune(data, '\n') {
		return 0, nil, errNoNewline
	}
	return keylines.Split(data, atEOF)
}
