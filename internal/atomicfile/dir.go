package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// A Dir is a directory for files that belong together. It has a random temporary name in its parent directory, until
// Publish moves the files to the parent. The order of calls is
//
//	CreateDir Create* (Publish | Abort)
//
// One goroutine at a time may use it, except that any may call Abort at any time.
type Dir struct {
	parent *os.Root
	name   string      // of the Dir, in parent
	final  string      // final directory of the files, in parent
	like   fs.FileInfo // new files get its permissions; nil: the default

	mu    sync.Mutex
	open  map[*NewFile]bool // nil after the Dir got its final name, or Abort has removed it
	ended error             // result of Abort

	sync  func(*os.File) error // tests replace this
	moved func(name string)    // set by tests; called after a file is moved to the parent
}

// CreateDir creates a Dir in the directory parent. It is named like the file of [CreateOwned].
func CreateDir(parent, owner string) (*Dir, error) {
	root, err := os.OpenRoot(parent)
	if err != nil {
		return nil, err
	}
	name := temporaryName(owner)
	if err := root.Mkdir(name, 0o777); err != nil {
		return nil, fmt.Errorf("create a directory in %q: %w", parent, errors.Join(cause(err), root.Close()))
	}
	return &Dir{parent: root, name: name, final: ".", open: map[*NewFile]bool{}, sync: (*os.File).Sync}, nil
}

// temporaryName returns an unused name.
func temporaryName(owner string) string {
	if owner != "" {
		owner += "-"
	}
	return fmt.Sprintf("sievetable-%s%016x.tmp", owner, rand.Uint64())
}

// KeepMode makes files that are created from now on get the permissions of that file, and its owner if the process
// may set it.
func (d *Dir) KeepMode(like fs.FileInfo) { d.like = like }

// path returns the final path of a file.
func (d *Dir) path(file string) string { return filepath.Join(d.parent.Name(), d.final, file) }

// A NewFile is a file in a Dir that is being written.
type NewFile struct {
	d    *Dir
	f    *os.File
	name string
}

// Create creates a file in the Dir, to be written once. After Abort it fails.
func (d *Dir) Create(name string) (*NewFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		return nil, failed("create", d.path(name), fs.ErrClosed)
	}
	f, err := d.parent.OpenFile(filepath.Join(d.name, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, failed("create", d.path(name), err)
	}
	if d.like != nil {
		keepMode(f, d.like)
	}
	file := &NewFile{d, f, name}
	d.open[file] = true
	return file, nil
}

func (f *NewFile) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	return n, f.named(err)
}

// Close syncs the file to disk and closes it.
func (f *NewFile) Close() error {
	f.d.mu.Lock()
	delete(f.d.open, f)
	f.d.mu.Unlock()
	return f.named(errors.Join(cause(f.d.sync(f.f)), cause(f.f.Close())))
}

// named adds the file's final name to an error of writing it.
func (f *NewFile) named(err error) error { return failed("write", f.d.path(f.name), err) }

// Rename renames a closed file in the Dir, for a name that depends on the contents.
func (d *Dir) Rename(from, to string) error {
	if to == "." || filepath.Base(to) != to || !filepath.IsLocal(to) {
		return fmt.Errorf("write %q: not the name of a file", d.path(to))
	}
	return failed("write", d.path(to), d.parent.Rename(filepath.Join(d.name, from), filepath.Join(d.name, to)))
}

// Publish moves files of the Dir to the parent directory, replacing files of the same names, syncs the parent, and
// removes the Dir. The files must be closed. If Publish fails, files that have been moved stay: another process may
// use them by then.
func (d *Dir) Publish(names []string) error {
	if err := d.moveAll(names); err != nil {
		return err
	}
	return d.Abort()
}

// moveAll moves files to the parent directory, and syncs the parent.
func (d *Dir) moveAll(names []string) error {
	to, err := d.parent.Open(".")
	if err != nil {
		return failed("write to", d.parent.Name(), err)
	}
	defer to.Close() // it was only synced
	for _, name := range names {
		if err := d.move(name); err != nil {
			return failed("write", filepath.Join(d.parent.Name(), name), err)
		}
		if d.moved != nil {
			d.moved(name)
		}
	}
	return failed("write to", d.parent.Name(), syncDir(to, d.sync))
}

// move moves a file to the parent directory. Like Create, it does not replace anything but a regular file.
func (d *Dir) move(name string) error {
	if link, err := check(d.parent, name); err != nil || link != "" {
		return cmp.Or(err, ErrNotReplaced)
	}
	return d.parent.Rename(filepath.Join(d.name, name), name)
}

// Abort removes the Dir and all files in it. Any goroutine may call it at any time, repeatedly. Concurrent writes
// then fail. When it returns, the Dir is gone.
func (d *Dir) Abort() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		return d.ended
	}
	for f := range d.open {
		f.f.Close() // the contents do not matter
	}
	d.open = nil
	if err := errors.Join(d.parent.RemoveAll(d.name), d.parent.Close()); err != nil {
		d.ended = fmt.Errorf("remove a temporary directory in %q: %w", d.parent.Name(), err)
	}
	return d.ended
}
