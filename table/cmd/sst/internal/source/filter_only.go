package source

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// filterOnlyError is table.ErrFilterOnly in the words of sst.
type filterOnlyError struct{ path string }

func (e filterOnlyError) Error() string {
	return fmt.Sprintf("there is a filter of the keys only, and no entries: to ask the filter, use sst get %s KEY", text.ShellPath(e.path))
}

func (filterOnlyError) Unwrap() error { return table.ErrFilterOnly }

// MayContain asks the filters of the table.
func (f *File) MayContain(key []byte) bool { return f.Reader.MayContain(f.seekKey(key)) }

// HiddenKeys returns an error if there may be keys though there are no data blocks: in a
// filter, or because of damage.
func (f *File) HiddenKeys() error {
	if !f.Empty {
		return nil
	}
	if _, err := f.Reader.FirstKey(); !errors.Is(err, table.ErrNotFound) {
		return f.Wrap(err)
	}
	return nil
}

// HasNoEntries reports whether a file is an empty one, or a table without data blocks.
func HasNoEntries(path string) bool {
	if IsEmpty(path) {
		return true
	}
	f, err := OpenDamaged(path, Options{OneTable: true})
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Layout != nil && f.Empty
}
