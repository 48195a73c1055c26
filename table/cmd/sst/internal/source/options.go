package source

import (
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// Options say how to open a Source, and its files.
type Options struct {
	dbdir.ListOptions
	OneTable bool // open a single table, not a directory or a log

	// Note, if not nil, is called with notes for the user, such as what is not read.
	Note func(string)

	// Lookups says that keys are looked up, and nothing is scanned.
	Lookups bool

	// Strict has the first damage end a scan or a lookup. Without it, they pass over what is
	// damaged: see Loss.
	Strict bool

	// FindMore has logs read on behind damage where the next record is. Engines, and commands that
	// show what these do, skip up to 32 KiB there.
	FindMore bool

	// Salvage, if not nil, finds the pairs of a damaged table of a directory. They are read, but what can
	// be missing is a Loss all the same.
	Salvage func(f *dbfile.File, keys dbfile.InternalKeys) (Salvaged, error)
}
