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
	"github.com/sievetable/sievetable/table"
)

// A Dir is a [Source] for the tables in a directory. It also reads and writes the directory's manifest. A
// Dir is safe for concurrent use. [NewDir] returns a Dir. Each Set needs a Dir of its own, and [OpenDir]
// makes one; NewDir is cheap. To read or write the manifest, use any other Dir.
//
// A Dir opens a file at its first read and keeps it open, up to MaxOpenFiles of [Options]. It opens only
// regular files in the directory itself. If a name has a path, or is a symbolic link to the outside, a read
// returns an error.
//
// An open file stays the same, even if another file takes its name. If a file was closed because of
// MaxOpenFiles and has another size, modification time or identity when it is opened again, the error is
// [ErrReplaced] until Forget.
//
// With Mapped in Options.Reader, the tables are mapped into memory: see [table.ReaderOptions].Mapped. A
// mapped file stays the same too, unless it is written to or truncated. After Drain, a deleted file takes
// its disk space until the garbage collector has run.
type Dir struct {
	path  string
	files *openfiles.Files

	mu     sync.Mutex
	root   *os.Root // nil until the first file is opened
	closed bool
}

// NewDir returns a Dir for the directory path, with the default MaxOpenFiles. It reads nothing yet.
func NewDir(path string) *Dir { return newDir(path, defaultMaxOpenFiles()) }

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

// newFiles returns files of which at most that many are open.
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

// OpenDir opens the set in the directory path, whose manifest is the file [ManifestName]. It does what
// [Open] does with a [Dir]. After Close, the files are closed when the lookups and Iters that use them
// have ended.
func OpenDir(ctx context.Context, path string, o *Options) (s *Set, err error) {
	opts, err := o.withDefaults(true)
	if err != nil {
		return nil, err
	}
	d, done := newDir(path, opts.MaxOpenFiles), false
	defer func() { // also if a policy or a codec panics
		if !done {
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
	s.owned, done = d, true
	return s, nil
}

// ReadAt reads the file name: see [Source]. Its error wraps that of the operating system. If ctx is done,
// ReadAt begins no read. It does not end a read that has begun.
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
	m := table.MapFile(f.File.(*os.File), info.Size())
	if m == nil {
		return nil, 0, nil
	}
	d.files.Close(name)
	return m, info.Size(), nil
}

// openFile opens the file name. It is an *os.File.
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

// ReadManifest reads and checks the directory's manifest, the file [ManifestName]: see the function
// [ReadManifest]. If there is none, the error wraps fs.ErrNotExist. The caller owns the manifest.
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

// WriteManifest writes the directory's manifest atomically: readers find the old or the new one, even
// after a crash. When WriteManifest returns, the manifest is on disk. After an error, the old manifest
// stays. If the file is a symbolic link, its target is replaced. Write and sync the tables first:
// WriteManifest does not check that they exist.
func (d *Dir) WriteManifest(m *Manifest) error {
	if _, err := d.openRoot(); err != nil {
		return err
	}
	return storedManifest{name: ManifestName}.replace(context.Background(), &DirStore{Dir: d.path}, m)
}

// Forget closes the file name when its running reads have ended. The next read opens the file that then
// has the name.
func (d *Dir) Forget(name string) { d.files.Forget(name) }

// Close closes all files when their running reads have ended. After Close, all methods except Forget
// return an error that wraps os.ErrClosed.
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

// OpenFS opens the set in the directory dir of fsys. "." is the root of fsys. If a file is missing, the
// error wraps fs.ErrNotExist. Files must be regular, and have a ReadAt method that is safe for concurrent
// use, as the files of os.DirFS, os.Root.FS and embed.FS have. Mapped in Options.Reader is ignored.
//
// A file is opened at its first read and stays open, up to MaxOpenFiles of [Options]. If it was closed
// because of that and has another size, modification time or identity when it is opened again, the error
// is [ErrReplaced]. After Close, the files are closed when the lookups and Iters that use them have ended.
//
// For [Set.Swap], read the new manifest in fsys with [ReadManifest].
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
