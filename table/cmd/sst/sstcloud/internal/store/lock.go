package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/set"
)

// lockName is the file that sst and table/beam lock too when they replace the manifest of a directory. It is
// the same for all manifests there.
const lockName = set.ManifestName + ".lock"

// Lock waits until no other program changes the manifests of a directory, and excludes others until unlock
// is called. It does nothing for a bucket, and where files cannot be locked.
func (s *Store) Lock(ctx context.Context) (unlock func(), err error) {
	if !s.IsDir() {
		return func() {}, nil
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	unlock, err = filelock.Wait(ctx, filepath.Join(s.dir, lockName))
	if errors.Is(err, errors.ErrUnsupported) {
		return func() {}, nil
	}
	return unlock, err
}
