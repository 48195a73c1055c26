package setio

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/gofrs/flock"

	"github.com/sievetable/sievetable/internal/lockfile"
	"github.com/sievetable/sievetable/table/set"
)

// owner is in the temporary names of files, so that Sweep removes none that another program writes.
const owner = "beam"

// isRemote reports whether dir is of a file system of Beam other than that of the operating system.
func isRemote(dir string) bool { return strings.Index(dir, "://") > 0 }

// withStore calls f with the directory.
func withStore(ctx context.Context, dir string, f func(set.Store) error) (err error) {
	if !isRemote(dir) {
		return named(f(&set.DirStore{Dir: dir, Owner: owner, LockFile: lockFile}))
	}
	files, err := filesystem.New(ctx, dir)
	if err != nil {
		return fmt.Errorf("setio: directory %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	return named(f(&remoteStore{files, strings.TrimRight(dir, "/")}))
}

// named returns the error with the name of the package.
func named(err error) error {
	if err == nil || strings.HasPrefix(err.Error(), "setio: ") {
		return err
	}
	return fmt.Errorf("setio: %w", err)
}

// lockFile locks a file that sst locks too.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	return lockfile.Wait(ctx, flock.New(path, flock.SetFlag(lockfile.Flags), flock.SetPermissions(lockfile.Mode)))
}

// checkDir checks the name of the directory.
func checkDir(dir string) (err error) {
	if !isRemote(dir) {
		if !filepath.IsAbs(dir) {
			return fmt.Errorf(
				"setio: directory is %q, want an absolute path: workers have other working directories", dir)
		}
		return nil
	}
	if strings.ContainsAny(dir, `*?[\`) {
		return fmt.Errorf(`setio: directory is %q, want none of * ? [ \ in it, which list other directories too`, dir)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("setio: directory is %q: %v", dir, r)
		}
	}()
	filesystem.ValidateScheme(dir) // panics if it is not registered
	return nil
}
