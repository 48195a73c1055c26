package setio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// A store is the directory of a set: one of the operating system, or one of a file system of Beam. Names
// are those of files in it.
type store interface {
	io.Closer

	// path returns what users call the file.
	path(name string) string

	// prepare makes the directory, if it does not exist.
	prepare() error

	// lock waits until no other process has the lock of the directory, as far as that is possible.
	lock(ctx context.Context) (unlock func(), err error)

	// list returns the names of all files.
	list(ctx context.Context) ([]string, error)

	// open opens a file. If there is none, the error is fs.ErrNotExist.
	open(ctx context.Context, name string) (io.ReadCloser, error)

	size(ctx context.Context, name string) (int64, error)
	modified(ctx context.Context, name string) (time.Time, error)

	// put writes a small file, or replaces it.
	put(ctx context.Context, name string, content []byte) error

	// create begins a file.
	create() (draft, error)

	// remove removes a file. It is no error if there is none.
	remove(ctx context.Context, name string) error
}

// A draft is a file that has no name yet.
type draft interface {
	io.Writer

	// commit gives it its name, when all of it is stored. found is whether a file of that name and size
	// was there.
	commit(ctx context.Context, name string, size int64) (found bool, err error)

	// abort removes it. After commit it does nothing.
	abort() error
}

// owner is in the temporary names of files, so that Sweep removes none that another program writes.
const owner = "beam"

// isRemote reports whether dir is of a file system of Beam other than that of the operating system.
func isRemote(dir string) bool { return strings.Index(dir, "://") > 0 }

// openStore opens the directory.
func openStore(ctx context.Context, dir string) (store, error) {
	if !isRemote(dir) {
		return localStore{dir}, nil
	}
	files, err := filesystem.New(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("setio: directory %s: %w", dir, err)
	}
	return &remoteStore{files, strings.TrimRight(dir, "/")}, nil
}

// withStore calls f with the directory.
func withStore(ctx context.Context, dir string, f func(store) error) (err error) {
	st, err := openStore(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return f(st)
}

// lockIfPossible locks the directory, if that has locks.
func lockIfPossible(ctx context.Context, st store) (unlock func(), err error) {
	unlock, err = st.lock(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		return func() {}, nil
	}
	return unlock, err
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
