package set

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/sievetable/sievetable/internal/openfiles"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// A Dir is a [Source] for the tables in a directory. It also reads and writes the directory's manifest. A Dir is safe
// for concurrent use. Each Set needs a Dir of its own, which OpenDir creates. A Dir opens only regular files, and
// follows no link out of the directory. An open or mapped file stays the same if another takes its name. Files are
// closed because of MaxOpenFiles, and when they are corrupt. If a closed file was replaced, the error is [ErrReplaced].
type Dir struct {
	path  string
	files *openfiles.Files

	mu     sync.Mutex
	root   *os.Root // nil until the first file is opened
	closed bool
}

// NewDir returns a Dir for the directory path. It reads nothing yet.
func NewDir(path string) *Dir { return newDir(path, regular.MaxOpenFiles()) }

func newDir(path string, maxOpenFiles int) *Dir {
	d := &Dir{path: path}
	d.files = newFiles(maxOpenFiles, func(name string) (regular.File, fs.FileInfo, error) {
		if err := CheckName(name); err != nil {
			return nil, nil, err
		}
		return d.openFile(name)
	})
	return d
}

// newFiles returns Files with a limit of open files.
func newFiles(most int, open func(name string) (regular.File, fs.FileInfo, error)) *openfiles.Files {
	return openfiles.New(most, open, func(name string) error { return fmt.Errorf("set: file %q: %w", name, ErrReplaced) })
}

// closeFile closes the file name, if src keeps it open.
func closeFile(src Source, name string) {
	switch src := src.(type) {
	case *Dir:
		src.files.Close(name)
	case *openfiles.Files:
		src.Close(name)
	}
}

// OpenDir opens the set in the directory path, whose manifest is the file [ManifestName]. It is like [Open] with a
// [Dir] that Close also closes.
func OpenDir(ctx context.Context, path string, o *Options) (s *Set, err error) {
	opts, err := o.withDefaults(true)
	if err != nil {
		return nil, err
	}
	d := newDir(path, opts.MaxOpenFiles)
	defer func() { // also if a policy or a codec panics
		if s == nil {
			err = errors.Join(err, d.Close())
		}
	}()
	m, err := d.ReadManifest()
	if err != nil {
		return nil, err
	}
	if s, err = open(ctx, m, d, opts); err != nil {
		return nil, err
	}
	s.owned = d
	return s, nil
}

// ReadAt reads the file name: see [Source]. It cannot interrupt a running read.
func (d *Dir) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	return d.files.ReadAt(ctx, name, p, off)
}

// Map maps the file name into memory: see [Mapper]. The file does not stay open.
func (d *Dir) Map(ctx context.Context, name string) (src io.ReaderAt, size int64, err error) {
	f, err := d.files.Acquire(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Release()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	m := tablefile.Map(f.File.(*os.File), info.Size())
	if m == nil {
		return nil, 0, nil
	}
	d.files.Close(name)
	return m, info.Size(), nil
}

// openFile opens the file name, which is an *os.File.
func (d *Dir) openFile(name string) (regular.File, fs.FileInfo, error) {
	root, err := d.openRoot()
	if err != nil {
		return nil, nil, err
	}
	f, info, err := regular.OpenIn(root, name)
	if err != nil {
		return nil, nil, fmt.Errorf("set: directory %q: %w", d.path, err)
	}
	return f, info, nil
}

// openRoot opens the directory, unless it is open.
func (d *Dir) openRoot() (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, d.closedError()
	}
	if d.root == nil {
		root, err := os.OpenRoot(d.path)
		if err != nil {
			return nil, fmt.Errorf("set: %w", err)
		}
		d.root = root
	}
	return d.root, nil
}

// closedError is the error after Close.
func (d *Dir) closedError() error {
	return fmt.Errorf("set: directory %q: %w", d.path, os.ErrClosed)
}

// ReadManifest reads the file [ManifestName]. A missing file is fs.ErrNotExist.
func (d *Dir) ReadManifest() (*Manifest, error) {
	f, _, err := d.openFile(ManifestName)
	if err != nil {
		return nil, err
	}
	return readAndClose(f)
}

// readAndClose reads a manifest from its file.
func readAndClose(f regular.File) (m *Manifest, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	return ReadManifest(f)
}

// WriteManifest writes the manifest atomically and syncs it. If the file is a symbolic link, its target is replaced.
// Write and sync the tables first.
func (d *Dir) WriteManifest(m *Manifest) error {
	if _, err := d.openRoot(); err != nil {
		return err
	}
	return storedManifest{name: ManifestName}.replace(context.Background(), &DirStore{Dir: d.path}, m)
}

// Forget closes the file name after its running reads, until the next read.
func (d *Dir) Forget(name string) { d.files.Forget(name) }

// Close closes the files after running reads. Later reads return os.ErrClosed.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return d.closedError()
	}
	d.closed = true
	d.files.ForgetAll()
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}

// OpenFS is like [OpenDir] for the directory dir of fsys. Files must be regular, and have a ReadAt method that is
// safe for concurrent use, as in os.DirFS and embed.FS. Reader.Mapped is ignored. If a file was replaced while
// closed, the error is [ErrReplaced]. For [Set.Swap], use [ReadManifest].
func OpenFS(ctx context.Context, fsys fs.FS, dir string, o *Options) (*Set, error) {
	if !fs.ValidPath(dir) {
		return nil, fmt.Errorf("set: %w", &fs.PathError{Op: "open", Path: dir, Err: fs.ErrInvalid})
	}
	opts, err := o.withDefaults(true)
	if err != nil {
		return nil, err
	}
	openFile := func(name string) (regular.File, fs.FileInfo, error) {
		return regular.OpenFS(fsys, path.Join(dir, name))
	}
	f, _, err := openFile(ManifestName)
	if err != nil {
		return nil, fmt.Errorf("set: %w", err)
	}
	m, err := readAndClose(f)
	if err != nil {
		return nil, err
	}
	return open(ctx, m, newFiles(opts.MaxOpenFiles, openFile), opts)
}
