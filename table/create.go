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
// Until then the table is in a temporary file beside it, called name and a
// random suffix that ends in ".tmp": what a crash can leave behind, and what an
// error or Abort removes.
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
	tmp := fmt.Sprintf("%s.%016x.tmp", name, rand.Uint64())
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("table: create: %w", err)
	}
	return &pendingFile{tmp: f, name: name}, nil
}

// discard removes the temporary file.
func (p *pendingFile) discard() error {
	return wrapFile("discard", errors.Join(p.tmp.Close(), os.Remove(p.tmp.Name())))
}

// publish puts the file on disk, and there under its final name; if it fails,
// under none.
func (p *pendingFile) publish() error {
	if err := p.tmp.Sync(); err != nil {
		return errors.Join(wrapFile("sync", err), p.discard())
	}
	if err := p.tmp.Close(); err != nil {
		return wrapFile("close", errors.Join(err, os.Remove(p.tmp.Name())))
	}
	if err := os.Rename(p.tmp.Name(), p.name); err != nil {
		return wrapFile("rename", errors.Join(err, os.Remove(p.tmp.Name())))
	}
	if err := syncDir(filepath.Dir(p.name)); err != nil {
		return wrapFile("sync directory", errors.Join(err, os.Remove(p.name)))
	}
	return nil
}

// syncDir makes the names in dir last. Windows cannot be asked to.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func wrapFile(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table: %s: %w", doing, err)
}
