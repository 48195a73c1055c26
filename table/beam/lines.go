package setio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	// Files of the operating system.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"

	"github.com/sievetable/sievetable/internal/keylines"
)

// eachLine calls f with each line of the file, without its newline. The slice is valid until f returns. eachLine
// returns f's errors unchanged.
func eachLine(ctx context.Context, name string, f func(line []byte) error) error {
	if err := checkInput(name); err != nil {
		return err
	}
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return fmt.Errorf("setio: input file: %w", err)
	}
	defer files.Close()
	file, err := files.OpenRead(ctx, name)
	if err != nil {
		return fmt.Errorf("setio: input file %s: %w", name, err)
	}
	defer file.Close()
	lines, n := bufio.NewScanner(file), 1
	lines.Buffer(make([]byte, maxKey+1), maxKey+1)
	lines.Split(keylines.Split)
	for ; lines.Scan(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f(lines.Bytes()); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("setio: %s: line %d has more than %d bytes, the limit for a key", name, n, maxKey)
	case err != nil:
		return fmt.Errorf("setio: %s: line %d: %w", name, n, err)
	}
	return nil
}

// checkInput refuses a name that gs:// and s3:// parse as a URL: they would read another object, or none.
func checkInput(name string) error {
	if isRemote(name) && strings.ContainsAny(name, "?#%") {
		return fmt.Errorf("setio: input file %s: use a name without ? # %%, which Beam does not take literally", name)
	}
	return nil
}
