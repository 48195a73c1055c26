package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/sievetable/sievetable/internal/regular"
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
		l := flock.New(filepath.Join(s.dir, lockName), flock.SetFlag(lockFlags), flock.SetPermissions(0o666))
		err := checkLockFile(l.Path())
		if err == nil {
			_, err = l.TryLockContext(ctx, lockPause)
		}
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

// checkLockFile returns an error if something other than a regular file has the name of the lock file. Through a
// link, the file would be made elsewhere.
func checkLockFile(name string) error {
	info, err := os.Lstat(name)
	if err != nil || info.Mode().IsRegular() {
		return nil // any other error comes again when the file is opened
	}
	return errors.New(regular.Kind(info.Mode()) + ", not a regular file: remove it")
}

// isNamed reports whether the locked file still has its name, and is a regular one. If not, the lock excludes nobody.
func isNamed(l *flock.Flock) bool {
	named, err := os.Lstat(l.Path())
	if err != nil || !named.Mode().IsRegular() {
		return false
	}
	held, err := l.Stat()
	return err == nil && os.SameFile(named, held)
}
