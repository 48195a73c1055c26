package partition

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/filelock"
	"github.com/sievetable/sievetable/table/set"
)

// lockName is the name of the file that is locked while a manifest is read and written. The manifest
// cannot be locked, because it is replaced.
const lockName = set.ManifestName + ".lock"

// lockPause is the time between two attempts to lock.
const lockPause = 10 * time.Millisecond

// lock waits until no other Writer changes the manifest of the directory. Where files cannot be locked, a
// set is written all the same: it needs nothing of the manifest that it replaces.
func (w *Writer) lock() (unlock func(), err error) {
	for {
		f, err := tryLock(w.path(lockName))
		switch {
		case f != nil:
			return func() {
				os.Remove(f.Name()) // as long as nobody else can lock it. Windows removes no open file: it stays
				f.Close()
			}, nil
		case errors.Is(err, errors.ErrUnsupported) && w.layer == nil:
			return func() {}, nil
		case err != nil:
			return nil, fmt.Errorf("lock %s: %w", w.path(lockName), err)
		}
		select {
		case <-w.ctx.Done():
			return nil, context.Cause(w.ctx)
		case <-time.After(lockPause):
		}
	}
}

// tryLock returns the lock file, locked, or nil if another Writer has it.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	err = filelock.Lock(f)
	named := false
	if err == nil {
		named, err = filelock.IsNamed(f)
	}
	if named && err == nil {
		return f, nil
	}
	if errors.Is(err, filelock.ErrLocked) {
		err = nil
	}
	return nil, errors.Join(err, f.Close())
}
