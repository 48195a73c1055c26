package database

import (
	"bytes"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
)

// smallest returns the first key of a table, and largest the last one.
func smallest(t *versions.Table) table.InternalKey { return parsed(t.Smallest) }
func largest(t *versions.Table) table.InternalKey  { return parsed(t.Largest) }

// parsed splits an internal key, of which the form was checked.
func parsed(key []byte) table.InternalKey {
	k, _ := table.ParseInternalKey(key)
	return k
}

// sameTable reports whether two versions list the same file. Engines can give the number of a file
// that they have removed to another one.
func sameTable(a, b *versions.Table) bool {
	return a.Number == b.Number && a.Size == b.Size && bytes.Equal(a.Smallest, b.Smallest) && bytes.Equal(a.Largest, b.Largest)
}
