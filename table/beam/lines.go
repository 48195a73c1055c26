package setio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxKey is the most bytes of a key: as many as a manifest takes.
const maxKey = 256 << 10

// A lineReader reads files line by line. Its buffer is for any number of files.
type lineReader struct {
	b *bufio.Reader
}

// each calls f with each line of the file, without its newline. The slice is valid until f
// returns. Errors of f are returned as they are.
func (l *lineReader) each(ctx context.Context, name string, f func(line []byte) error) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("setio: file of lines: %w", err)
	}
	defer file.Close()
	if l.b == nil {
		l.b = bufio.NewReaderSize(nil, maxKey+1)
	}
	l.b.Reset(file)
	for n := 1; ; n++ {
		line, err := l.b.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("setio: %s: line %d has more than %d bytes, want at most that many in a key",
				name, n, maxKey)
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("setio: line %d: %w", n, err)
		}
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
	}
}
