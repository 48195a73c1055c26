package output

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// If the named file is also one of the inputs, Lock waits for other processes that update it. Otherwise two of
// them could lose each other's changes. Call Lock before the input is opened, and unlock after Commit. After a
// second, it prints a note to w about the wait. Where files cannot be locked, it does nothing.
func Lock(ctx context.Context, w io.Writer, name string, inputs ...string) (unlock func(), err error) {
	if !isInput(name, inputs) {
		return func() {}, nil
	}
	real, err := atomicfile.Resolve(name)
	if err != nil {
		return func() {}, nil // Create returns the error
	}
	lock := real + ".lock"
	second, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	unlock, err = filelock.Wait(second, lock)
	if errors.Is(err, context.DeadlineExceeded) {
		text.Note(w, "waiting until another command unlocks %s", format.ShellPath(lock))
		unlock, err = filelock.Wait(ctx, lock)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return func() {}, nil
	}
	return unlock, err
}

// isInput reports whether the named file is also one of the inputs. If the file is replaced meanwhile, it looks
// again.
func isInput(name string, inputs []string) bool {
	for {
		out := FilesOf(nil, name)
		if len(out) > 0 && out[0].Mode().IsRegular() && FilesOf(nil, inputs...).Has(out[0]) {
			return true
		}
		if now := FilesOf(nil, name); len(now) == len(out) && (len(now) == 0 || out.Has(now[0])) {
			return false
		}
	}
}
