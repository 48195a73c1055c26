package set

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
)

// A DirStore is a directory as a [Store]. Unfinished tables are in sievetable-*.tmp. New files get the old manifest's
// permissions. The manifest may be a symbolic link; OpenDir follows it only within the directory.
type DirStore struct {
	Dir   string // the directory's path; Begin creates it if necessary, but not its parent
	Owner string // if not "", in the names of temporary files, so that a program recognizes its own

	// LockFile creates and locks the file path, set.jsonl.lock in Dir, and waits while another process has the lock.
	// unlock removes the file. If nil, only one program at a time may add layers or sweep. sst uses
	// github.com/gofrs/flock, and locks again if the locked file was removed meanwhile.
	LockFile func(ctx context.Context, path string) (unlock func(), err error)
}

// Path returns the path of a file.
func (s *DirStore) Path(name string) string { return filepath.Join(s.Dir, name) }

// Lock calls LockFile. If that is nil, the error is errors.ErrUnsupported.
func (s *DirStore) Lock(ctx context.Context) (unlock func(), err error) {
	if s.LockFile == nil {
		return nil, errors.ErrUnsupported
	}
	return s.LockFile(ctx, s.Path(lockName))
}

// List returns regular files, links to them, and temporary directories.
func (s *DirStore) List(context.Context) ([]File, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		info, err := e.Info()
		isLink := e.Type()&fs.ModeSymlink != 0
		if isLink {
			info, err = os.Stat(s.Path(e.Name()))
		}
		if errors.Is(err, fs.ErrNotExist) || err != nil && isLink { // removed meanwhile, or a dangling link
			continue
		}
		if err != nil {
			return nil, err
		}
		isTemporary := strings.HasPrefix(e.Name(), "sievetable-") && filepath.Ext(e.Name()) == ".tmp"
		if info.Mode().IsRegular() || isTemporary {
			files = append(files, File{e.Name(), info.Size(), info.ModTime()})
		}
	}
	return files, nil
}

// Stat describes a file.
func (s *DirStore) Stat(_ context.Context, name string) (File, error) {
	info, err := os.Stat(s.Path(name))
	if err != nil {
		return File{}, err
	}
	return File{name, info.Size(), info.ModTime()}, nil
}

// Open opens a regular file.
func (s *DirStore) Open(_ context.Context, name string) (io.ReadCloser, error) {
	f, _, err := regular.DirOf(s.Dir).Open(name)
	return f, err
}

// Put writes and syncs a file.
func (s *DirStore) Put(_ context.Context, name string, content []byte) (err error) {
	f, err := atomicfile.CreateOwned(s.Path(name), s.Owner)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Abort()) }() // does nothing after Commit
	if _, err := f.Write(content); err != nil {
		return err
	}
	return atomicfile.Commit(f)
}

// Remove removes a file, or a temporary directory.
func (s *DirStore) Remove(_ context.Context, name string) error { return os.RemoveAll(s.Path(name)) }

// Begin creates the directory, if necessary. A database directory is an error.
func (s *DirStore) Begin(context.Context) (Pending, error) {
	if name, err := versions.FindCurrentOrManifest(s.Dir); name != "" {
		return nil, errors.Join(err, fmt.Errorf(
			"set: %s is a database directory, with %s: use another one for a set", s.Dir, name))
	}
	p := &pendingDir{path: s.Dir}
	for p.Dir == nil { // again if another Builder, at its end, removes the directory in between
		err := os.Mkdir(s.Dir, 0o777)
		made, there := err == nil, errors.Is(err, fs.ErrExist)
		if made || there {
			p.Dir, err = atomicfile.CreateDir(s.Dir, s.Owner)
		}
		info, _ := os.Lstat(s.Dir)
		isLink := info != nil && info.Mode()&fs.ModeSymlink != 0 // a dangling one
		if err != nil && (!there || isLink || !errors.Is(err, fs.ErrNotExist)) {
			if made {
				os.Remove(s.Dir) // fails if it contains another Builder's files
			}
			return nil, fmt.Errorf("set: create the directory: %w", err)
		}
		p.made.Store(made)
	}
	if info, err := os.Stat(s.Path(ManifestName)); err == nil {
		p.KeepMode(info)
	}
	return p, nil
}

// A pendingDir is a temporary directory of complete tables.
type pendingDir struct {
	*atomicfile.Dir
	path string
	made atomic.Bool // Begin has created the directory
	n    int         // number of tables
}

func (p *pendingDir) Create(context.Context) (io.WriteCloser, error) {
	f, err := p.Dir.Create(pendingName(p.n))
	if err != nil {
		return nil, err
	}
	p.n++
	return f, nil
}

func pendingName(i int) string { return fmt.Sprintf("%06d.ldb", i) }

func (p *pendingDir) Publish(_ context.Context, tables []Table) error {
	var names []string
	for i, t := range tables {
		if i > 0 && t.Name == tables[i-1].Name {
			continue // a part can add and remove the same keys, in equal tables
		}
		names = append(names, t.Name)
		if err := p.Rename(pendingName(i), t.Name); err != nil {
			return err
		}
	}
	return p.Dir.Publish(names)
}

func (p *pendingDir) Abort() error {
	err := p.Dir.Abort()
	if p.made.Swap(false) {
		os.Remove(p.path) // fails if it contains files, such as another Builder's
	}
	return err
}
