package versions

import (
	"io"

	"github.com/sievetable/sievetable/internal/wal"
)

// A Header is what a MANIFEST of one edit has besides tables: the fields without which no engine
// opens a database. There is no log.
type Header struct {
	Comparer     string // the name of the comparator
	NextFile     uint64 // > the numbers of all files
	LastSequence uint64 // ≥ the sequence numbers of all keys
}

// WriteManifest writes a MANIFEST of one edit. tables are fields of it, one for each table.
func WriteManifest(w io.Writer, h Header, tables []byte) error {
	var edit []byte
	for _, f := range []Field{
		{Kind: FieldComparer, Key: []byte(h.Comparer)},
		{Kind: FieldLog},
		{Kind: FieldNextFile, Table: Table{Number: h.NextFile}},
		{Kind: FieldSequence, Table: Table{Number: h.LastSequence}},
	} {
		edit = f.Append(edit)
	}
	return wal.NewWriter(w).Append(append(edit, tables...))
}
