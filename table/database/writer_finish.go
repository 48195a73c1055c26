package database

import (
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/versions"
)

// manifestNumber is the number in the name of the MANIFEST. The engines begin with it too.
const manifestNumber = 1

// maxAdded is the most bytes of the tables in the version edit. The MANIFEST has some more: the other
// fields, and 7 bytes for each 32 KiB, since it has the form of a log.
const maxAdded = versions.MaxManifest - versions.MaxManifest/1024

// finish completes the last table, and writes what the database has besides tables.
func (w *Writer) finish() error {
	if w.table != nil {
		if err := w.finishTable(w.key); err != nil {
			return err
		}
	}
	manifest := fmt.Sprintf("MANIFEST-%06d", manifestNumber)
	h := versions.Header{Comparer: w.user.Name(), NextFile: firstTable + w.tables, LastSequence: w.sequence}
	if err := w.writeFile(manifest, func(to io.Writer) error { return versions.WriteManifest(to, h, w.added) }); err != nil {
		return err
	}
	err := w.writeFile("CURRENT", func(to io.Writer) error {
		_, err := io.WriteString(to, manifest+"\n")
		return err
	})
	if err != nil {
		return err
	}
	return wrap(w.dir.Commit())
}

// writeFile writes a file, and puts it on disk.
func (w *Writer) writeFile(name string, write func(to io.Writer) error) error {
	f, err := w.dir.Create(name)
	if err != nil {
		return wrap(err)
	}
	if err := write(f); err != nil {
		return wrap(err)
	}
	return wrap(f.Close())
}
