package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotNew is the error for the name of a directory that cannot be new: a file has it, or a
// directory that is not empty.
var ErrNotNew = errors.New("already exists, and is not an empty directory")

// A NewDir is a directory that gets its name when all of it is on disk. Until then it has a
// temporary one, sievetable-….tmp in the same parent directory. So the directory is complete, or
// not there. If the directory is there, and is a mount point or in a parent that cannot be written, its
// files are moved into it, in the order in which they were created. Its calls come in the order
//
//	CreateNewDir Create* (Commit | Abort)
//
// One goroutine at a time may use it, except that any may call Abort at any time.
type NewDir struct {
	*Dir
	inside bool     // the Dir is in the directory, which stays
	names  []string // of the files
}

// CreateNewDir creates a NewDir that Commit will rename to path. If path is a link to a directory,
// the NewDir replaces that directory. If path is that of a file, or of a directory that is not
// empty, the error is ErrNotNew.
func CreateNewDir(path string) (*NewDir, error) {
	d, err := createNewDir(path)
	if err != nil {
		return nil, fmt.Errorf("create %q: %w", path, cause(err))
	}
	return d, nil
}

func createNewDir(path string) (*NewDir, error) {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	name := filepath.Base(path)
	if name == "." || name == ".." || name == string(filepath.Separator) {
		return nil, errors.New("not the name of a new directory")
	}
	if isMountPoint(path) {
		return createInside(path)
	}
	parent, err := CreateDir(filepath.Dir(path))
	if err != nil {
		if d, failed := createInside(path); failed == nil {
			return d, nil
		}
		return nil, err
	}
	d := &NewDir{Dir: parent}
	d.final = name
	if _, err := d.vacant(); err != nil {
		return nil, errors.Join(err, d.Abort())
	}
	return d, nil
}

// vacant returns ErrNotNew unless an empty directory has the final name, which old describes, or nothing has it.
func (d *NewDir) vacant() (old fs.FileInfo, err error) {
	old, err = d.parent.Lstat(d.final)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !old.IsDir() {
		return nil, ErrNotNew
	}
	f, err := d.parent.Open(d.final)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	if names, err := f.Readdirnames(1); len(names) > 0 {
		return nil, ErrNotNew
	} else if err != io.EOF {
		return nil, err
	}
	return old, nil
}

// Create creates a file in the NewDir, to be written once. After Abort it is an error.
func (d *NewDir) Create(name string) (*NewFile, error) {
	f, err := d.Dir.Create(name)
	if err == nil {
		d.names = append(d.names, name)
	}
	return f, err
}

// Commit syncs the directory to disk and renames it to its final name. The files must be closed.
// If an empty directory has the name, Commit replaces it, and keeps its mode and owner. If Commit fails, it removes the NewDir,
// unless that has its name already, and only its parent directory could not be synced.
func (d *NewDir) Commit() error {
	if d.inside {
		return d.commitInside()
	}
	parent, err := d.commit()
	if err != nil {
		return errors.Join(fmt.Errorf("create %q: %w", d.path(""), cause(err)), d.Abort())
	}
	defer parent.Close() // it was only synced
	if err := syncDir(parent, d.sync); err != nil {
		return fmt.Errorf("create %q: %w", d.path(""), cause(err))
	}
	return nil
}

// commit gives the directory its name. It returns the parent directory, so that an error of opening
// that comes before.
func (d *NewDir) commit() (parent *os.File, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	self, err := d.parent.Open(d.Dir.name)
	if err != nil {
		return nil, err
	}
	defer self.Close() // it was only synced
	old, err := d.vacant()
	if err != nil {
		return nil, err
	}
	if old != nil {
		keepMode(self, old)
	}
	if err := syncDir(self, d.sync); err != nil {
		return nil, err
	}
	if parent, err = d.parent.Open("."); err != nil {
		return nil, err
	}
	if err := d.rename(); err != nil {
		return nil, errors.Join(err, parent.Close())
	}
	d.end.Do(func() {})
	d.parent.Close() // nothing was written through it
	return parent, nil
}

// rename gives the directory its name.
func (d *NewDir) rename() error {
	old, err := d.vacant()
	if err != nil {
		return err
	}
	if old != nil { // not every system replaces it
		if err := d.parent.Remove(d.final); err != nil {
			return err
		}
	}
	return d.parent.Rename(d.Dir.name, d.final)
}
