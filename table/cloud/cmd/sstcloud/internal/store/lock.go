package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/sievetable/sievetable/table/set"
)

// lockName is the file that sst and table/beam lock too when they replace the manifest of a directory. It is
// the same for all manifests there.
const lockName = set.ManifestName + ".lock"

// lockPause is the time between two attempts to lock.
const lockPause = 10 * time.Millisecond

// Lock waits until no other program changes the manifests of a directory, and excludes others until unlock
// is called. It does nothing for a bucket, and where files cannot be locked.
func (s *Store) Lock(ctx context.Context) (unlock func(), err error) {
	if !s.IsDir() {
		return func() {}, nil
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	for {
		l := flock.New(filepath.Join(s.dir, lockName), flock.SetPermissions(0o666))
		_, err := l.TryLockContext(ctx, lockPause)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return func() {}, l.Close()
		case err != nil:
			return nil, fmt.Errorf("lock %s: %w", l.Path(), errors.Join(err, l.Close()))
		case isNamed(l):
			return func() {
				os.Remove(l.Path()) // as long as nobody else can lock it. Windows removes no open file: it stays
				l.Close()
			}, nil
		}
		l.Close()
	}
}

// isNamed reports whether the locked file still has its name. If not, the lock excludes nobody.
func isNamed(l *flock.Flock) bool {
	named, err := os.Stat(l.Path())
	if err != nil {
		return false
	}
	held, err := l.Stat()
	return err == nil && os.SameFile(named, held)
}
