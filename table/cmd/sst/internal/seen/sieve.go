package seen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// MaxLine is the size in bytes of the longest line, without its newline.
const MaxLine = 16 << 20

// An Output is where lines are printed. After an error, all calls return it.
type Output interface {
	io.Writer
	Flush() error
	Sync() error // for a file: has it on disk
}

// A Sieve prints the lines that its State has not seen.
type Sieve struct {
	State *State
	Out   Output
	Full  func() // called once, when the State has more lines than it was made for

	// Every is the time between two saves. If to save takes long, they are at least 10 times as
	// far apart as that.
	Every time.Duration

	due *time.Timer
}

// Run prints the new lines of the inputs, one input after the other, and saves the State. An input is
// a file, or "-" for stdin. All lines that were read are printed before Run waits for more. Whatever
// the State has is printed before it is saved. When ctx ends, Run saves and returns the cause.
func (s *Sieve) Run(ctx context.Context, paths []string, stdin io.Reader) error {
	s.due = time.NewTimer(s.Every)
	defer s.due.Stop()
	if s.State.Lines > s.State.Keys {
		s.Full()
	}
	var err error
	for _, path := range paths {
		if err = s.input(ctx, path, stdin); err != nil {
			break
		}
	}
	failed := s.save()
	switch {
	case failed == nil || errors.Is(err, failed): // err is the same if it is that of the output
		return err
	case err == nil || errors.Is(err, context.Cause(ctx)):
		return failed
	}
	return errors.Join(err, failed)
}

// save saves the State. What is printed is out of our hands before that.
func (s *Sieve) save() error {
	if err := s.Out.Flush(); err != nil {
		return err
	}
	if err := s.Out.Sync(); err != nil {
		return err
	}
	start := time.Now()
	err := s.State.Save()
	s.due.Reset(max(s.Every, 10*time.Since(start)))
	return err
}

// input sieves one input.
func (s *Sieve) input(ctx context.Context, path string, stdin io.Reader) error {
	if path == "-" {
		return s.reader(ctx, "standard input", stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	return s.reader(ctx, path, f)
}

func (s *Sieve) reader(ctx context.Context, name string, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks, l := read(ctx, r), lines{each: s.line}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.due.C:
			if err := s.save(); err != nil {
				return err
			}
		case c := <-chunks:
			err := l.add(c.data)
			if c.err == io.EOF && err == nil {
				err = l.end()
			}
			if errors.Is(err, errLong) {
				return fmt.Errorf("%s, line %d: %w", name, l.n, err)
			}
			if err != nil || c.err == io.EOF {
				return err
			}
			if c.err != nil {
				return fmt.Errorf("%s, after line %d: %w", name, l.n, c.err)
			}
			if err := s.Out.Flush(); err != nil {
				return err
			}
		}
	}
}

// line prints a line, which ends in a newline, if it is new.
func (s *Sieve) line(line []byte) error {
	if !s.State.Add(line[:len(line)-1]) {
		return nil
	}
	if s.State.Lines == s.State.Keys+1 {
		s.Full()
	}
	_, err := s.Out.Write(line)
	return err
}

// lines cuts what is added into lines.
type lines struct {
	each func(line []byte) error // gets each line with its newline
	n    int                     // number of lines
	rest []byte                  // of a line that goes on
}

var errLong = fmt.Errorf("longer than %d bytes, want at most that many", MaxLine)

func (l *lines) add(b []byte) error {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.rest = append(l.rest, b...)
			return l.checkLength(len(l.rest))
		}
		if err := l.line(b[:i+1]); err != nil {
			return err
		}
		b = b[i+1:]
	}
	return nil
}

// line takes the end of a line.
func (l *lines) line(b []byte) error {
	if err := l.checkLength(len(l.rest) + len(b) - 1); err != nil {
		return err
	}
	l.n++
	if len(l.rest) > 0 {
		b = append(l.rest, b...)
		l.rest = b[:0]
	}
	return l.each(b)
}

// end gives the last line a newline if it has none.
func (l *lines) end() error {
	if len(l.rest) == 0 {
		return nil
	}
	return l.line([]byte{'\n'})
}

// checkLength checks the length of a line that is not counted yet.
func (l *lines) checkLength(n int) error {
	if n > MaxLine {
		l.n++
		return errLong
	}
	return nil
}
