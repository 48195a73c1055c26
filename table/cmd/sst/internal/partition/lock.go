package partition

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
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
		f, err := filelock.Open(w.path(lockName))
		switch {
		case err == nil:
			return func() {
				os.Remove(f.Path()) // as long as nobody else can lock it. Windows removes no open file: it stays
				f.Close()
			}, nil
		case errors.Is(err, errors.ErrUnsupported) && w.layer == nil:
			return func() {}, nil
		case !errors.Is(err, filelock.ErrLocked):
			return nil, err
		}
		select {
		case <-w.ctx.Done():
			return nil, context.Cause(w.ctx)
		case <-time.After(lockPause):
		}
	}
}
