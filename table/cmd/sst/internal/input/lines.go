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
	n, returns := 0, 0
	for lines.Scan() {
		n++
		if bytes.HasSuffix(lines.Bytes(), carriageReturn) {
			returns++
		}
		if err := parse(&p, lines.Bytes()); err != nil {
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
