package setio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/set"
)

// pendingName is the name of a table before its SHA-256 is known. No file has it: until then
// the file is sievetable-beam-….tmp.
const pendingName = "pending.ldb"

// A localStore is a directory of the operating system.
type localStore struct{ dir string }

func (s localStore) Close() error { return nil }

func (s localStore) path(name string) string { return filepath.Join(s.dir, name) }

func (s localStore) prepare() error {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return fmt.Errorf("setio: directory of the set: %w", err)
	}
	return nil
}

// lockName is the file that sst locks too when it replaces the manifest. The manifest cannot be locked,
// because it is replaced.
const lockName = set.ManifestName + ".lock"

// lockPause is the time between two attempts to lock.
const lockPause = 10 * time.Millisecond

// lock locks the directory. If its file system has no locks, the error is errors.ErrUnsupported.
func (s localStore) lock(ctx context.Context) (unlock func(), err error) {
	for {
		l := flock.New(s.path(lockName), flock.SetFlag(lockFlags), flock.SetPermissions(0o666))
		err := checkLockFile(l.Path())
		if err == nil {
			_, err = l.TryLockContext(ctx, lockPause)
		}
		if err != nil {
			return nil, fmt.Errorf("setio: lock %s: %w", l.Path(), errors.Join(err, l.Close()))
		}
		if isNamed(l) {
			return func() {
				os.Remove(l.Path()) // as long as nobody else can lock it. Windows removes no open file: it stays
				l.Close()
			}, nil
		}
		l.Close()
	}
}

// checkLockFile returns an error if another file than a regular one has the name of the lock file. A link would have a
// file made elsewhere.
func checkLockFile(name string) error {
	info, err := os.Lstat(name)
	if err != nil || info.Mode().IsRegular() {
		return nil // an error other than that there is none comes again when it is opened
	}
	return errors.New(regular.Kind(info.Mode()) + ", not a regular file: remove it")
}

// isNamed reports whether the locked file is a regular one that still has its name. If not, the lock excludes nobody.
func isNamed(l *flock.Flock) bool {
	named, err := os.Lstat(l.Path())
	if err != nil || !named.Mode().IsRegular() {
		return false
	}
	held, err := l.Stat()
	return err == nil && os.SameFile(named, held)
}

func (s localStore) list(context.Context) ([]string, error) {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if f.Type().IsRegular() {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

func (s localStore) open(_ context.Context, name string) (io.ReadCloser, error) {
	f, _, err := regular.Open(s.path(name))
	if err != nil {
		return nil, err // not a nil *os.File, which is no nil io.ReadCloser
	}
	return f, nil
}

func (s localStore) size(_ context.Context, name string) (int64, error) {
	info, err := os.Stat(s.path(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (s localStore) modified(_ context.Context, name string) (time.Time, error) {
	info, err := os.Stat(s.path(name))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func (s localStore) put(_ context.Context, name string, content []byte) (err error) {
	f, err := atomicfile.CreateOwned(s.path(name), owner)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Abort()) }() // does nothing after Commit
	if _, err := f.Write(content); err != nil {
		return err
	}
	return atomicfile.Commit(f)
}

func (s localStore) create() (draft, error) {
	f, err := atomicfile.CreateOwned(s.path(pendingName), owner)
	return localDraft{f, s}, err
}

func (s localStore) remove(_ context.Context, name string) error {
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// A localDraft is a file with a temporary name.
type localDraft struct {
	*atomicfile.File
	store localStore
}

func (d localDraft) commit(ctx context.Context, name string, size int64) (found bool, err error) {
	if err := d.SetName(name); err != nil {
		return false, err
	}
	there, err := d.store.size(ctx, name)
	found = err == nil && there == size
	return found, atomicfile.Commit(d.File)
}

func (d localDraft) abort() error { return d.Abort() }
