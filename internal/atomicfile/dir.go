package atomicfile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// A Dir is a directory for files that belong together. It has a temporary name in its parent
// directory, which nobody else knows, until Publish moves the files to the parent. Its calls
// come in the order
//
//	CreateDir (Publish | Abort)
//
// One goroutine at a time may use it, except that any may call Abort at any time.
type Dir struct {
	parent *os.Root
	name   string // in parent
	end    sync.Once
	ended  error

	sync  func(*os.File) error // tests replace this
	moved func(name string)    // tests set this, to be called after a file was moved to the parent
}

// CreateDir creates a Dir in the directory parent. Its name is sievetable-….tmp.
func CreateDir(parent string) (*Dir, error) {
	root, err := os.OpenRoot(parent)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("sievetable-%016x.tmp", rand.Uint64())
	if err := root.Mkdir(name, 0o777); err != nil {
		return nil, fmt.Errorf("create a directory in %q: %w", parent, errors.Join(cause(err), root.Close()))
	}
	return &Dir{parent: root, name: name, sync: (*os.File).Sync}, nil
}

// Path returns the path of a file in the Dir.
func (d *Dir) Path(name string) string { return filepath.Join(d.parent.Name(), d.name, name) }

// Publish moves files of the Dir to the parent directory, where they replace files of the same
// names, syncs that, and removes the Dir. The files must be on disk. If Publish fails, the files
// that have been moved stay: another process may use them by then.
func (d *Dir) Publish(names []string) error {
	if err := d.moveAll(names); err != nil {
		return err
	}
	return d.Abort()
}

// moveAll moves files to the parent directory, and syncs that.
func (d *Dir) moveAll(names []string) error {
	to, err := d.parent.Open(".")
	if err != nil {
		return err
	}
	defer to.Close() // it was only synced
	for _, name := range names {
		if err := d.move(name); err != nil {
			return fmt.Errorf("write %q: %w", filepath.Join(d.parent.Name(), name), cause(err))
		}
		if d.moved != nil {
			d.moved(name)
		}
	}
	if err := syncDir(to, d.sync); err != nil {
		return fmt.Errorf("write to %q: %w", d.parent.Name(), cause(err))
	}
	return nil
}

// move moves a file to the parent directory. What is there and no regular file stays, as with
// Create.
func (d *Dir) move(name string) error {
	link, err := check(d.parent, name)
	if err != nil {
		return err
	}
	if link != "" {
		return ErrNotReplaced
	}
	return d.parent.Rename(filepath.Join(d.name, name), name)
}

// Abort removes the Dir with all files that are in it. Any goroutine may call it at any time,
// and again. When it returns, the Dir is gone.
func (d *Dir) Abort() error {
	d.end.Do(func() {
		if err := errors.Join(d.parent.RemoveAll(d.name), d.parent.Close()); err != nil {
			d.ended = fmt.Errorf("remove a temporary directory in %q: %w", d.parent.Name(), err)
		}
	})
	return d.ended
}
