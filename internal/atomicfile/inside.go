package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// namesFile is a file in the Dir of a NewDir whose files are being moved into the directory: their names, a line each.
// By it, a later Commit knows what one that was killed has left.
const namesFile = ".names"

// createInside returns a NewDir for a directory that stays where it is.
func createInside(path string) (*NewDir, error) {
	dir, err := CreateDir(path)
	if err != nil {
		return nil, err
	}
	d := &NewDir{Dir: dir, inside: true}
	if _, err := d.leftovers(); err != nil {
		return nil, errors.Join(err, d.Abort())
	}
	return d, nil
}

// leftovers returns what processes that were killed have left in the directory: files first, and then temporary
// directories. If the directory has anything else, the error is ErrNotNew.
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
		if err == nil && len(moved) > 0 && !slices.Contains(names, moved[len(moved)-1]) { // else it was complete
			files = append(files, moved...)
		}
	}
	for _, name := range names {
		isLeft := name == d.Dir.name || name == "lost+found" || slices.Contains(temporary, name) || slices.Contains(files, name)
		if !isLeft {
			return nil, ErrNotNew
		}
	}
	return append(files, temporary...), nil
}

// commitInside is Commit for a directory that stays where it is. The file that was created last comes last.
func (d *NewDir) commitInside() error {
	d.mu.Lock()
	err := d.moveInside()
	d.mu.Unlock()
	if err != nil {
		for _, name := range d.names {
			d.parent.Remove(name) // if it was moved
		}
		return errors.Join(fmt.Errorf("create %q: %w", d.path(""), cause(err)), d.Abort())
	}
	return d.Dir.Abort()
}

func (d *NewDir) moveInside() error {
	left, err := d.leftovers()
	if err != nil {
		d.names = nil // they are another one's
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

// Chmod sets the permissions of a directory that is new. One that is there keeps its own.
func (d *NewDir) Chmod(mode fs.FileMode) error {
	return cause(d.parent.Chmod(d.Dir.name, mode.Perm()))
}
