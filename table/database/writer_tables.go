package database

import (
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
)

// firstTable is the number of the first table. The MANIFEST has the number before.
const firstTable = 2

// startTableFor starts a table if there is none that takes a user key: a full one ends, unless the
// key is its last one.
func (w *Writer) startTableFor(user []byte) error {
	if w.table != nil && w.bytes >= w.full {
		switch order := w.user.Compare(table.InternalFilterKey(w.last), user); {
		case order > 0:
			return table.ErrOrder
		case order < 0:
			if err := w.finishTable(w.last); err != nil {
				return err
			}
		}
	}
	if w.table == nil {
		return w.startTable()
	}
	return nil
}

// startTable starts a table.
func (w *Writer) startTable() (err error) {
	if w.tables == versions.MaxTables {
		return fmt.Errorf("database: more than %d tables, want a larger TableSize than %d", versions.MaxTables, w.o.TableSize)
	}
	if w.file, err = w.dir.Create(fmt.Sprintf("%06d.ldb", firstTable+w.tables)); err != nil {
		return wrap(err)
	}
	w.table, err = table.NewWriter(w.file, &w.o.Table)
	w.bytes = 0
	return err
}

// appendToTable adds an entry of the internal key w.key to the table.
func (w *Writer) appendToTable(key table.InternalKey, value []byte) error {
	if err := w.table.Append(w.key, value); err != nil {
		return err
	}
	if w.table.Entries() == 1 {
		w.smallest = append(w.smallest[:0], w.key...)
	}
	w.bytes += int64(len(w.key) + len(value))
	w.sequence = max(w.sequence, key.Sequence)
	return nil
}

// finishTable completes the table and puts it on disk.
func (w *Writer) finishTable(largest []byte) error {
	if err := w.table.Close(); err != nil {
		return err
	}
	if err := w.file.Close(); err != nil {
		return wrap(err)
	}
	w.full = predict(w.o.TableSize, w.bytes, w.table.Size())
	w.added = versions.Field{Kind: versions.FieldAdd, Table: versions.Table{
		Level: lastLevel, Number: firstTable + w.tables, Size: uint64(w.table.Size()),
		Smallest: w.smallest, Largest: largest,
	}}.Append(w.added)
	w.table = nil
	if w.tables++; len(w.added) > maxAdded {
		return fmt.Errorf("database: the MANIFEST would have %d bytes for %s, want at most %d: want a larger TableSize than %d",
			len(w.added), format.Plural(w.tables, "table"), maxAdded, w.o.TableSize)
	}
	return nil
}

// maxRatio is how many times smaller the pairs of a table are expected to become, at most. So the
// next table is not much too large if its pairs do not.
const maxRatio = 8

// predict returns how many bytes of keys and values will make a table of about size bytes, if
// those of the table before became stored bytes.
//
// The Size of the table that is being written is no use here: with several goroutines, it is that of
// some hundred KB before.
func predict(size, before, stored int64) int64 {
	return max(1, int64(float64(size)*min(maxRatio, float64(before)/float64(stored))))
}

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
	err := w.writeFile(manifest, func(to io.Writer) error { return versions.WriteManifest(to, h, w.added) })
	if err == nil {
		err = w.writeFile("CURRENT", func(to io.Writer) error {
			_, err := io.WriteString(to, manifest+"\n")
			return err
		})
	}
	if err == nil {
		err = w.dir.Commit()
	}
	return wrap(err)
}

// writeFile writes a file, and puts it on disk.
func (w *Writer) writeFile(name string, write func(to io.Writer) error) error {
	f, err := w.dir.Create(name)
	if err == nil {
		err = write(f)
	}
	if err == nil {
		err = f.Close()
	}
	return err
}
