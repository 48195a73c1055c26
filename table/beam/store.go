package setio

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/gofrs/flock"

	"github.com/sievetable/sievetable/internal/lockfile"
	"github.com/sievetable/sievetable/table/set"
)

// owner is part of temporary file names, so that Sweep does not remove other programs' files.
const owner = "beam"

// isRemote reports whether dir is in a file system of Beam, not in the operating system's.
func isRemote(dir string) bool { return strings.Index(dir, "://") > 0 }

// withStore calls f with the directory's Store. Its errors begin with the package's name.
func withStore(ctx context.Context, dir string, f func(set.Store) error) (err error) {
	var st set.Store = &set.DirStore{Dir: dir, Owner: owner, LockFile: lockFile}
	if isRemote(dir) {
		files, err := filesystem.New(ctx, dir)
		if err != nil {
			return fmt.Errorf("setio: directory %s: %w", dir, err)
		}
		defer files.Close() // all its files are closed by then
		st = &remoteStore{files, strings.TrimRight(dir, "/")}
	}
	if err = f(st); err == nil || strings.HasPrefix(err.Error(), "setio: ") {
		return err
	}
	return fmt.Errorf("setio: %w", err)
}

// lockFile locks a file, which sst also locks.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	return lockfile.Wait(ctx, flock.New(path, flock.SetFlag(lockfile.Flags), flock.SetPermissions(lockfile.Mode)))
}

// checkDir validates the directory's name.
func checkDir(dir string) (err error) {
	switch {
	case !isRemote(dir) && !filepath.IsAbs(dir):
		return fmt.Errorf("setio: directory is %q: use an absolute path, since workers have other working directories", dir)
	case isRemote(dir) && strings.ContainsAny(dir, `*?[\`):
		return fmt.Errorf(`setio: directory is %q: use a name without * ? [ \, which match other directories too`, dir)
	case isRemote(dir) && strings.ContainsAny(dir, `#%`):
		return fmt.Errorf(`setio: directory is %q: use a name without # %%, which Beam does not take literally`, dir)
	case isRemote(dir) && strings.Trim(dir[strings.Index(dir, "://")+3:], "/") == "":
		return fmt.Errorf("setio: directory is %q: name a bucket or a directory after the scheme", dir)
	case isRemote(dir):
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("setio: directory is %q: %v", dir, r)
			}
		}()
		filesystem.ValidateScheme(dir) // panics if it is not registered
	}
	return nil
}
