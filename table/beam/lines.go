package setio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	// Files of the operating system.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
)

// A lineReader reads files line by line. Its buffer is for any number of files.
type lineReader struct {
	b *bufio.Reader
}

// each calls f with each line of the file, without its newline. The slice is valid until f
// returns. Errors of f are returned as they are.
func (l *lineReader) each(ctx context.Context, name string, f func(line []byte) error) error {
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return fmt.Errorf("setio: file of lines: %w", err)
	}
	defer files.Close()
	file, err := files.OpenRead(ctx, name)
	if err != nil {
		return fmt.Errorf("setio: file of lines %s: %w", name, err)
	}
	defer file.Close()
	if l.b == nil {
		l.b = bufio.NewReaderSize(nil, maxKey+1)
	}
	l.b.Reset(file)
	return l.eachLine(ctx, name, f)
}

func (l *lineReader) eachLine(ctx context.Context, name string, f func(line []byte) error) error {
	for n := 1; ; n++ {
		line, err := l.b.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("setio: %s: line %d has more than %d bytes, want at most that many in a key",
				name, n, maxKey)
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("setio: %s: line %d: %w", name, n, err)
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
