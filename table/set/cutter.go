package set

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/tempfile"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// An entryWriter takes the entries of one table.
type entryWriter interface {
	Append(key, value []byte) error
	Close() error
	Abort() error
}

// evenTables is how many full tables the spool has room for. If fewer tables are full, a last
// table of few entries would make the largest table more than 1.3 times the mean.
const evenTables = 4

// A cutter distributes entries over tables of at most most entries. The largest table has at
// most 1.3 times as many entries as the mean, or 1 more. The number of entries is not known
// before the last one, so the first entries are kept in a spool. If it has all of them, they
// are distributed evenly. Otherwise all tables but the last are full.
type cutter struct {
	most  int // entries of a table; 0: any number
	start func() (entryWriter, error)

	spool   *spool // the first entries; nil when they are in tables
	last    []byte // the last key
	entries int    // of all tables

	table entryWriter // nil: the next entry starts one
	room  int         // entries that table still takes
	left  int         // entries of the spool that are in no table yet
}

func newCutter(most int, tempDir string, start func() (entryWriter, error)) *cutter {
	c := &cutter{most: most, start: start}
	if most > 0 {
		c.spool = &spool{dir: tempDir}
	}
	return c
}

// Append adds an entry. Its key must be > the key before.
func (c *cutter) Append(key, value []byte) error {
	if c.entries > 0 && bytes.Compare(key, c.last) <= 0 {
		return fmt.Errorf("%w: %s after %s", table.ErrOrder, wire.Quote(key), wire.Quote(c.last))
	}
	c.last = append(c.last[:0], key...)
	if c.spool != nil && c.entries == evenTables*c.most {
		if err := c.unspool(); err != nil {
			return err
		}
	}
	c.entries++
	if c.spool != nil {
		return c.spool.write(key, value)
	}
	return c.append(key, value)
}

// append adds an entry to the table that has room.
func (c *cutter) append(key, value []byte) (err error) {
	if c.table == nil {
		if c.table, err = c.start(); err != nil {
			return err
		}
		c.room = c.most
		if c.left > 0 {
			tables := (c.left + c.most - 1) / c.most
			c.room = (c.left + tables - 1) / tables
		}
	}
	if err := c.table.Append(key, value); err != nil {
		return err
	}
	if c.room--; c.room > 0 || c.most == 0 {
		return nil
	}
	return c.closeTable()
}

// closeTable completes the table that has entries, if there is one.
func (c *cutter) closeTable() error {
	if c.table == nil {
		return nil
	}
	t := c.table
	c.table = nil
	return t.Close()
}

// unspool writes the entries of the spool to tables, and removes it.
func (c *cutter) unspool() error {
	s := c.spool
	if s == nil {
		return nil
	}
	c.spool, c.left = nil, s.n
	err := s.each(func(key, value []byte) error {
		err := c.append(key, value)
		c.left--
		return err
	})
	return errors.Join(err, s.file.Close())
}

// finish completes the last table.
func (c *cutter) finish() error {
	if err := c.unspool(); err != nil {
		return err
	}
	return c.closeTable()
}

// abort removes the spool, and ends the table that takes entries.
func (c *cutter) abort() (err error) {
	if c.table != nil {
		err = c.table.Abort()
		c.table = nil
	}
	if c.spool != nil {
		err = errors.Join(err, c.spool.file.Close())
	}
	return err
}

// A spool keeps entries in a temporary file, in their order. Each has the lengths of key and
// value as varints, the key and the value. It creates the file with the first entry.
type spool struct {
	dir  string // of the temporary file; "": that of the system
	file tempfile.File
	out  *bufio.Writer
	n    int // entries
}

// spoolBuffer is how many bytes a spool writes and reads at once.
const spoolBuffer = 256 << 10

// write adds an entry.
func (s *spool) write(key, value []byte) error {
	if s.out == nil {
		if err := s.file.Create(s.dir); err != nil {
			return err
		}
		s.out = bufio.NewWriterSize(s.file, spoolBuffer)
	}
	s.n++
	for _, b := range [][]byte{key, value} {
		s.out.Write(binary.AppendUvarint(s.out.AvailableBuffer(), uint64(len(b)))) // the next Write returns the same error
		if _, err := s.out.Write(b); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
	}
	return nil
}

// each calls f with the entries, until it returns an error.
func (s *spool) each(f func(key, value []byte) error) error {
	if s.out == nil {
		return nil
	}
	err := s.out.Flush()
	if err == nil {
		_, err = s.file.Seek(0, io.SeekStart)
	}
	in := bufio.NewReaderSize(s.file, spoolBuffer)
	var key, value []byte
	for i := 0; i < s.n && err == nil; i++ {
		if key, err = readBytes(in, key); err == nil {
			value, err = readBytes(in, value)
		}
		if err == nil {
			if err := f(key, value); err != nil {
				return err
			}
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// readBytes reads a length and as many bytes, into the memory of b.
func readBytes(in *bufio.Reader, b []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return b, err
	}
	if n > uint64(cap(b)) {
		b = make([]byte, n)
	}
	_, err = io.ReadFull(in, b[:n])
	return b[:n], err
}
