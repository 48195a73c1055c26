package source

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// MissingError says which tables do not exist, or is nil.
func (d *Dir) MissingError() error {
	if len(d.Missing) == 0 {
		return nil
	}
	first := filepath.Base(d.Missing[0].Path)
	by := filepath.Base(d.Set)
	if d.Set == "" {
		by = "the MANIFEST"
	}
	if n := len(d.Missing); n > 1 {
		return corruption(fmt.Sprintf("%s: %d tables that %s lists do not exist, the first is %s", d.Path, n, by, first))
	}
	return corruption(fmt.Sprintf("%s: table %s, which %s lists, does not exist", d.Path, first, by))
}

// MissingNote says which tables do not exist and are not named by an error, or is "".
func (s *Source) MissingNote(err error) string {
	lacks := s.dir
	if err != nil {
		message := err.Error()
		lacks.Missing = slices.DeleteFunc(slices.Clone(lacks.Missing), func(l TableFile) bool { return strings.Contains(message, l.Path+": ") })
	}
	return strings.Join(text.Lines(lacks.MissingError()), "")
}

// A MissingTable is the error for a table of a database that does not exist. It is damage.
type MissingTable struct{ by *versions.Version }

func (m *MissingTable) Error() string { return "missing (" + m.listed() + ")" }

// listed says what lists the table.
func (m *MissingTable) listed() string {
	if m.by.Torn > 0 {
		return "listed in " + m.by.Manifest + ", of which the end was cut off, so that the table may be obsolete"
	}
	return "listed in " + m.by.Manifest
}

// Is reports whether target is table.ErrCorrupt.
func (*MissingTable) Is(target error) bool { return target == table.ErrCorrupt }

// Open opens the table. A missing one is damage.
func (l TableFile) Open(o Options) (*File, error) {
	switch {
	case !l.Missing:
		return Open(l.Path, l.Options(o))
	case l.Line != nil:
		return nil, &FileError{l.Path, corruption("missing, though the manifest of the set lists it: put it back, or build the set again")}
	}
	return nil, &FileError{l.Path, &MissingTable{l.by}}
}
