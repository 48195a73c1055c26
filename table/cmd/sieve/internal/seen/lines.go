package seen

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

const chunkSize = 256 << 10

// A chunk is the result of a Read.
type chunk struct {
	data []byte // until the next one is received
	err  error
}

// read reads r in a goroutine of its own, so that other things can be done while r waits. The last
// chunk has an error, which is io.EOF at the end. The goroutine also ends when ctx ends and r returns.
func read(ctx context.Context, r io.Reader) <-chan chunk {
	chunks := make(chan chunk)
	go func() {
		// While one is used, the other is read into.
		buffer, other := make([]byte, chunkSize), make([]byte, chunkSize)
		for {
			n, err := r.Read(buffer)
			select {
			case chunks <- chunk{buffer[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
			buffer, other = other, buffer
		}
	}()
	return chunks
}

// lines cuts an input into lines.
type lines struct {
	name string                  // of the input
	each func(line []byte) error // gets each line with its newline
	n    int                     // number of lines that each has got
	rest []byte                  // of a line that goes on
}

// add goes on with the next bytes of the input.
func (l *lines) add(b []byte) error {
	for line := range bytes.Lines(b) {
		if len(l.rest) > 0 {
			l.rest = append(l.rest, line...)
			line = l.rest
		}
		text, whole := bytes.CutSuffix(line, newline)
		if len(text) > MaxLine {
			return fmt.Errorf("%s, line %d: longer than %d bytes, want at most that many", l.name, l.n+1, MaxLine)
		}
		if !whole && len(l.rest) == 0 {
			l.rest = append(l.rest, line...)
		}
		if !whole { // it is the last one of b
			return nil
		}
		l.n++
		l.rest = l.rest[:0]
		if err := l.each(line); err != nil {
			return err
		}
	}
	return nil
}

var newline = []byte{'\n'}

// end gives the last line a newline if it has none.
func (l *lines) end() error {
	if len(l.rest) == 0 {
		return nil
	}
	return l.add(newline)
}
