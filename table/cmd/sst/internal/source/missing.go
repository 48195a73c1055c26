package source

import (
	"fmt"
	"path/filepath"
)

// MissingError says which tables do not exist, or is nil.
func (d *Dir) MissingError() error {
	if len(d.Missing) == 0 {
		return nil
	}
	first := filepath.Base(d.Missing[0].Path)
	by := filepath.Base(d.Set)
	if d.Set == "" {
		by, first = "the MANIFEST", fmt.Sprintf("%06d", d.Missing[0].Meta.Number)
	}
	if n := len(d.Missing); n > 1 {
		return corruption(fmt.Sprintf("%s: %d tables that %s lists do not exist, the first is %s", d.Path, n, by, first))
	}
	return corruption(fmt.Sprintf("%s: table %s, which %s lists, does not exist", d.Path, first, by))
}

// Open opens the table. A missing one is damage.
func (l TableFile) Open(o Options) (*File, error) {
	switch {
	case !l.Missing:
		return Open(l.Path, l.Options(o))
	case l.Line != nil:
		return nil, &FileError{l.Path, SetError("missing, though the manifest of the set lists it: put it back, or build the set again")}
	}
	return nil, &FileError{l.Path, corruption("missing, though the MANIFEST lists it" + l.putBack(o))}
}

// putBack says what helps if the table of a database is missing.
func (l TableFile) putBack(o Options) string {
	advice := ": put it back"
	if l.cut {
		advice = ", of which the end was cut off, so that the table may be obsolete: if it is not, put it back"
	}
	if o.Repair {
		return advice
	}
	return advice + ", or run " + RepairCommand
}
