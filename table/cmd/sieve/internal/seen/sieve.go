package seen

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// MaxLine is the maximum length of a line in bytes, without its newline.
const MaxLine = 16 << 20

// An Output is where lines are printed. After an error, all calls return that error.
type Output interface {
	io.Writer
	Available() int // bytes that Write accepts before it flushes
	Flush() error
	Sync() error // syncs a file to disk
}

// A Sieve prints the lines that its State has not seen.
type Sieve struct {
	State *State
	Out   Output

	// Every is the time between two saves. If saving is slow, the pause after a save is at least 10 times its
	// duration.
	Every time.Duration

	due    *time.Timer
	failed bool // a save has failed
}

// Run prints the new lines of the inputs, one input after the other, and saves the State. An input is a file, or
// "-" for stdin. All new lines are printed before Run waits for more input, and before the State that contains
// them is saved. When ctx ends, Run saves and returns the cause.
func (s *Sieve) Run(ctx context.Context, paths []string, stdin io.Reader) error {
	s.due = time.NewTimer(s.Every)
	defer s.due.Stop()
	var err error
	for _, path := range paths {
		if err = s.input(ctx, path, stdin); err != nil {
			break
		}
	}
	// After an error, a new State without lines would only preserve its rate.
	if s.failed || s.State.saved || err != nil && s.State.Lines() == 0 {
		return err
	}
	failed := s.save()
	switch {
	case failed == nil || errors.Is(err, failed): // both are the error of the output
		return err
	case err == nil || errors.Is(err, context.Cause(ctx)):
		return failed
	}
	return errors.Join(err, failed)
}

// save prints the new lines and then saves the State, if there are any.
func (s *Sieve) save() error {
	if s.State.saved {
		s.due.Reset(s.Every)
		return nil
	}
	if err := s.Out.Flush(); err != nil {
		return err
	}
	if err := s.Out.Sync(); err != nil {
		return err
	}
	start := time.Now()
	err := s.State.Save()
	s.failed = err != nil
	s.due.Reset(max(s.Every, 10*time.Since(start)))
	return err
}

// input sieves one input.
func (s *Sieve) input(ctx context.Context, path string, stdin io.Reader) error {
	l, in := lines{Sieve: s, name: "standard input"}, stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close() // it was only read
		l.name, in = path, f
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks := read(ctx, in)
	for {
		var err error
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-s.due.C:
			err = s.save()
		case c := <-chunks:
			err = l.chunk(c)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

const chunkSize = 256 << 10

// A chunk is the result of a Read.
type chunk struct {
	data []byte // valid until the next one is received
	err  error
}

// read reads r in a separate goroutine, so that the caller can do other things while r blocks. The last chunk has
// an error, which is io.EOF at the end. The goroutine also ends when ctx ends and r returns.
func read(ctx context.Context, r io.Reader) <-chan chunk {
	chunks := make(chan chunk)
	go func() {
		// While one is in use, the other is filled.
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

// lines splits an input that arrives in chunks.
type lines struct {
	*Sieve
	name string // of the input
	n    int    // number of whole lines
	rest []byte // start of a line that continues in the next chunk
}

var newline = []byte{'\n'}

// chunk sieves a chunk. It returns io.EOF after the last one. If the last line has no newline, it gets one.
func (l *lines) chunk(c chunk) error {
	err := l.add(c.data)
	if err == nil && c.err == io.EOF && len(l.rest) > 0 {
		err = l.add(newline)
	}
	if err == nil {
		err = l.Out.Flush() // the next chunk may take long to arrive
	}
	if err == nil && c.err != nil && c.err != io.EOF {
		err = fmt.Errorf("%s, after line %d: %w", l.name, l.n, c.err)
	}
	return cmp.Or(err, c.err)
}

// add sieves the next bytes of the input.
func (l *lines) add(b []byte) error {
	for line := range bytes.Lines(b) {
		if len(l.rest) > 0 {
			l.rest = append(l.rest, line...)
			line = l.rest
		}
		text, whole := bytes.CutSuffix(line, newline)
		if len(text) > MaxLine {
			return fmt.Errorf("%s, line %d: longer than the limit of %d bytes", l.name, l.n+1, MaxLine)
		}
		if !whole && len(l.rest) == 0 {
			l.rest = append(l.rest, line...)
		}
		if !whole { // the last line of b
			return nil
		}
		l.n++
		l.rest = l.rest[:0]
		if err := l.line(line); err != nil {
			return err
		}
	}
	return nil
}

// line prints a line, which ends in a newline, if it is new. The output gets whole lines at a time, so that a kill
// between two writes tears no line.
func (s *Sieve) line(line []byte) error {
	added, err := s.State.Add(line[:len(line)-1])
	if !added {
		return err
	}
	if len(line) > s.Out.Available() {
		if err := s.Out.Flush(); err != nil {
			return err
		}
	}
	_, err = s.Out.Write(line)
	return err
}
