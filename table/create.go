package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
)

// Create returns a Writer of the file name, which appears there only when Close
// has written all of it to disk, in place of a file that may be there by then.
// Until then the table is in a temporary file in the same directory, called
// sievetable-….tmp: what a crash can leave behind, and what an error or Abort
// removes. Should the directory fail to reach the disk after the
// new file has replaced an old one, then neither is left.
//
//	w, err := table.Create("users.ldb", nil)
//	if err != nil { … }
//	defer w.Abort() // does nothing after Close
//	… w.Append …
//	return w.Close()
func Create(name string, o *WriterOptions) (*Writer, error) {
	f, err := createPending(name)
	if err != nil {
		return nil, err
	}
	w, err := NewWriter(f.tmp, o)
	if err != nil {
		return nil, errors.Join(err, f.discard())
	}
	w.file = f
	return w, nil
}

// pendingFile is a file under a temporary name beside its final one.
type pendingFile struct {
	tmp  *os.File
	name string
}

func createPending(name string) (*pendingFile, error) {
	if info, err := os.Stat(name); name == "" || err == nil && info.IsDir() {
		return nil, fmt.Errorf("table: %q is no name for a file", name)
	}
	name, err := filepath.Abs(name) // the working directory may change
	if err != nil {
		return nil, wrap(err)
	}
	tmp := filepath.Join(filepath.Dir(name), fmt.Sprintf("sievetable-%016x.tmp", rand.Uint64()))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, wrap(err)
	}
	return &pendingFile{tmp: f, name: name}, nil
}

// discard removes the temporary file.
func (p *pendingFile) discard() error {
	return p.remove(p.tmp.Close())
}

// publish puts the file on disk, and there under its final name; if it fails,
// under none.
func (p *pendingFile) publish() error {
	if err := p.tmp.Sync(); err != nil {
		return errors.Join(wrap(err), p.discard())
	}
	if err := p.tmp.Close(); err != nil {
		return p.remove(err)
	}
	dir, err := os.Open(filepath.Dir(p.name)) // before anything is replaced
	if err != nil {
		return p.remove(err)
	}
	defer dir.Close() // nothing is written to it
	if err := os.Rename(p.tmp.Name(), p.name); err != nil {
		return p.remove(err)
	}
	if err := syncDir(dir); err != nil {
		return wrap(errors.Join(err, os.Remove(p.name)))
	}
	return nil
}

// remove removes the temporary file, which is closed, on account of err.
func (p *pendingFile) remove(err error) error {
	return wrap(errors.Join(err, os.Remove(p.tmp.Name())))
}

// syncDir makes the names in dir last. Windows cannot be asked to.
func syncDir(dir *os.File) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return dir.Sync()
}

// wrap marks an error of the operating system, which names the file itself.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table: %w", err)
}
