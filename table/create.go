package table

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Create returns a Writer of the file name, which appears there only when Close
// has written all of it to disk, in place of a file that may be there by then.
// Until then the table is in a temporary file in the same directory, called
// sievetable-….tmp: what a crash can leave behind, and what an error or Abort
// removes. If syncing the directory fails after the rename, the new file is
// removed, and a file that it replaced is gone. A symbolic link of that name is
// replaced, not followed. The file's permissions are 0666 before umask.
//
//	w, err := table.Create("users.ldb", nil)
//	if err != nil { … }
//	defer w.Abort() // does nothing after Close
//	… w.Append …
//	return w.Close()
func Create(name string, o *WriterOptions) (*Writer, error) {
	w, err := newWriter(o) // first: it leaves no file behind if a policy panics
	if err != nil {
		return nil, err
	}
	if w.file, err = createPending(name); err != nil {
		return nil, err
	}
	w.out.w = w.file.tmp
	return w, nil
}

// pendingFile is a file under a temporary name beside its final one.
type pendingFile struct {
	dir  *os.Root // stays the same directory, wherever it or the process moves
	tmp  *os.File
	name string // the final one, in dir

	sync   func(*os.File) error // what a test makes fail, as is the next
	rename func(oldName, newName string) error
}

func createPending(path string) (*pendingFile, error) {
	parent, name := filepath.Split(path)
	dir, err := os.OpenRoot(cmp.Or(parent, "."))
	if err != nil {
		return nil, wrap(err)
	}
	p := &pendingFile{dir: dir, name: name, sync: (*os.File).Sync, rename: dir.Rename}
	if err := p.checkName(path); err != nil {
		return nil, wrap(errors.Join(err, dir.Close()))
	}
	tmp := fmt.Sprintf("sievetable-%016x.tmp", rand.Uint64())
	if p.tmp, err = dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, wrap(errors.Join(err, dir.Close()))
	}
	return p, nil
}

// checkName fails early if no file could replace what has the name.
func (p *pendingFile) checkName(path string) error {
	info, err := p.dir.Lstat(p.name)
	switch {
	case p.name == "" || err == nil && info.IsDir():
		return fmt.Errorf("create %q: not the name of a file", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// discard removes the temporary file.
func (p *pendingFile) discard() error {
	return p.remove(p.tmp.Close())
}

// remove removes the temporary file, which is closed, on account of err.
func (p *pendingFile) remove(err error) error {
	defer p.dir.Close() // nothing is written through it
	return wrap(errors.Join(err, p.dir.Remove(filepath.Base(p.tmp.Name()))))
}

// publish puts the file on disk, and there under its final name; if it fails,
// under none.
func (p *pendingFile) publish() error {
	if err := p.sync(p.tmp); err != nil {
		return errors.Join(wrap(err), p.discard())
	}
	if err := p.tmp.Close(); err != nil {
		return p.remove(err)
	}
	dir, err := p.dir.Open(".") // before anything is replaced
	if err != nil {
		return p.remove(err)
	}
	defer dir.Close()
	if err := p.rename(filepath.Base(p.tmp.Name()), p.name); err != nil {
		return p.remove(err)
	}
	defer p.dir.Close()
	if runtime.GOOS == "windows" { // which cannot be asked to make names last
		return nil
	}
	if err := p.sync(dir); err != nil && !cannotSync(err) {
		return wrap(errors.Join(err, p.dir.Remove(p.name)))
	}
	return nil
}

// cannotSync reports whether err is how a file system says that it does not sync
// directories, and not that it failed to.
func cannotSync(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}

// wrap marks an error of the operating system, which names the file itself.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table: %w", err)
}
