package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNotNew is the error for the name of an existing file, or of a directory that is not empty.
var ErrNotNew = errors.New("already exists, and is not an empty directory")

// A NewDir is a directory that gets its name once it is completely on disk. Until then it has a temporary name,
// sievetable-….tmp, in the same parent directory. So the directory is complete or does not exist. If the directory
// exists, and is a mount point or its parent is read-only, the files are moved into it in the order of their
// creation. The order of calls is
//
//	CreateNewDir Create* (Commit | Abort)
//
// One goroutine at a time may use it, except that any may call Abort at any time.
type NewDir struct {
	*Dir
	inside bool     // the Dir is inside the final directory, which exists
	names  []string // of the files
}

// CreateNewDir creates a NewDir that Commit will rename to path. If path is a link to a directory, the NewDir
// replaces that directory. If path is a file, or a directory that is not empty, the error is ErrNotNew.
func CreateNewDir(path string) (d *NewDir, err error) {
	defer func(given string) { err = failed("create", given, err) }(path)
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
	parent, err := CreateDir(filepath.Dir(path), "")
	if err != nil {
		if d, insideErr := createInside(path); insideErr == nil {
			return d, nil
		}
		return nil, err
	}
	d = &NewDir{Dir: parent}
	d.final = name
	if _, err := d.vacant(); err != nil {
		return nil, errors.Join(err, d.Abort())
	}
	return d, nil
}

// vacant checks that the final name is unused, or is the name of an empty directory, which old then describes. If
// not, the error is ErrNotNew.
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

// Create creates a file in the NewDir, to be written once. After Abort it fails.
func (d *NewDir) Create(name string) (*NewFile, error) {
	f, err := d.Dir.Create(name)
	if err == nil {
		d.names = append(d.names, name)
	}
	return f, err
}

// Commit syncs the directory to disk and renames it to its final name. The files must be closed. If an empty
// directory has the name, Commit replaces it, and keeps its mode and owner. If Commit fails, it removes the NewDir,
// unless it has its final name already and only its parent directory could not be synced.
func (d *NewDir) Commit() error {
	if d.inside {
		return d.commitInside()
	}
	parent, err := d.commit()
	if err != nil {
		return errors.Join(failed("create", d.path(""), err), d.Abort())
	}
	defer parent.Close() // it was only synced
	return failed("create", d.path(""), syncDir(parent, d.sync))
}

// commit gives the directory its final name. It opens the parent directory before, so that failing to open it is
// noticed in time.
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
	if old != nil { // not every system replaces a directory
		err = d.parent.Remove(d.final)
	}
	if err == nil {
		err = d.parent.Rename(d.Dir.name, d.final)
	}
	if err != nil {
		return nil, errors.Join(err, parent.Close())
	}
	d.open = nil
	d.parent.Close() // nothing was written through it
	return parent, nil
}

// namesFile is the name of a file in a NewDir whose files are being moved into an existing directory. It lists their
// names, one per line. After the process was killed, a later Commit recognizes its leftovers by this list.
const namesFile = ".names"

// createInside returns a NewDir for an existing directory.
func createInside(path string) (*NewDir, error) {
	dir, err := CreateDir(path, "")
	if err != nil {
		return nil, err
	}
	d := &NewDir{Dir: dir, inside: true}
	if _, err := d.leftovers(); err != nil {
		return nil, errors.Join(err, d.Abort())
	}
	return d, nil
}

// leftovers returns the names that killed processes have left in the directory: files first, and then temporary
// directories. If the directory contains anything else, the error is ErrNotNew.
func (d *NewDir) leftovers() ([]string, error) {
	names, err := fs.Glob(d.parent.FS(), "*")
	if err != nil {
		return nil, err
	}
	var files, temporary []string
	for _, name := range names {
		if name == d.Dir.name || !strings.HasPrefix(name, "sievetable-") || filepath.Ext(name) != ".tmp" {
			continue
		}
		temporary = append(temporary, name)
		list, err := d.parent.ReadFile(filepath.Join(name, namesFile))
		moved := strings.Fields(string(list))
		if err == nil && len(moved) > 0 && !slices.Contains(names, moved[len(moved)-1]) { // else all were moved
			files = append(files, moved...)
		}
	}
	left := append(files, temporary...)
	for _, name := range names {
		if name != d.Dir.name && name != "lost+found" && !slices.Contains(left, name) {
			return nil, ErrNotNew
		}
	}
	return left, nil
}

// commitInside is Commit for an existing directory. The file that was created last is moved last.
func (d *NewDir) commitInside() error {
	d.mu.Lock()
	err := d.moveInside()
	d.mu.Unlock()
	if err != nil {
		for _, name := range d.names {
			d.parent.Remove(name) // if it was moved
		}
		return errors.Join(failed("create", d.path(""), err), d.Abort())
	}
	return d.Dir.Abort()
}

func (d *NewDir) moveInside() error {
	left, err := d.leftovers()
	if err != nil {
		d.names = nil // existing files of these names are not ours
		return err
	}
	for _, name := range left {
		if err := d.parent.RemoveAll(name); err != nil {
			return err
		}
	}
	list, err := d.parent.Create(filepath.Join(d.Dir.name, namesFile))
	if err != nil {
		return err
	}
	_, err = list.WriteString(strings.Join(d.names, "\n"))
	if err := errors.Join(err, d.sync(list), list.Close()); err != nil {
		return err
	}
	last := max(0, len(d.names)-1)
	if err := d.moveAll(d.names[:last]); err != nil {
		return err
	}
	return d.moveAll(d.names[last:])
}

// Chmod sets the permissions of a new directory. An existing one keeps its own.
func (d *NewDir) Chmod(mode fs.FileMode) error {
	return cause(d.parent.Chmod(d.Dir.name, mode.Perm()))
}
