package output

import (
	"context"
	"errors"
	"os"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
)

// Lock waits for other processes that replace the file of this name by what they make of it, if it is one of the inputs
// too. Otherwise what one of two has added would be lost. Call it before the input is opened, and unlock after Commit.
// Where files cannot be locked, it does nothing.
func Lock(ctx context.Context, name string, inputs ...string) (unlock func(), err error) {
	unlock = func() {}
	if !FilesOf(nil, name).hasAny(inputs) {
		return unlock, nil
	}
	real, err := atomicfile.Resolve(name)
	if err != nil {
		return nil, err
	}
	locked, err := filelock.Wait(ctx, real+".lock")
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return unlock, nil
	case err != nil:
		return nil, err
	}
	return locked, nil
}

// hasAny reports whether one of the paths is one of f.
func (f Files) hasAny(paths []string) bool {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && f.Has(info) {
			return true
		}
	}
	return false
}
