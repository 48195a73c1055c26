// Package partition writes sorted pairs to the tables of a set: a directory of tables of about
// equal numbers of entries, and their manifest.
package partition

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
)

// A table takes the entries of one table.
type entryWriter interface {
	Append(key, value []byte) error
	Close() error
}

// evenTables is how many full tables the spool has room for. If fewer tables are full, a last
// table of few entries would make the largest table more than 1.3 times the mean.
const evenTables = 4

// A cutter distributes entries over tables of at most most entries. The largest table has at
// most 1.3 times as many entries as the mean, or 1 more. The number of entries is not known
// before the last one, so the first entries are kept in a spool. If it has all of them, they
// are distributed evenly. Otherwise all tables but the last are full.
type cutter struct {
	most  int // entries of a table
	start func() (entryWriter, error)

	spool   *spool // the first entries; nil when they are in tables
	last    []byte // the last key
	entries int    // of all tables

	table  entryWriter // nil: the next entry starts one
	room   int         // entries that table still takes
	size   int         // entries of each further table
	larger int         // how many of them have one entry more
}

func newCutter(most int, tempDir string, start func() (entryWriter, error)) *cutter {
	return &cutter{most: most, start: start, spool: newSpool(tempDir), size: most}
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
		c.room = c.size
		if c.larger > 0 {
			c.room++
			c.larger--
		}
	}
	if err := c.table.Append(key, value); err != nil {
		return err
	}
	if c.room--; c.room > 0 {
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
	c.spool = nil
	for key, value := range s.all() {
		if err := c.append(key, value); err != nil {
			return errors.Join(err, s.close())
		}
	}
	return errors.Join(s.err, s.close())
}

// finish completes the last table.
func (c *cutter) finish() error {
	if c.spool != nil && c.entries > 0 {
		tables := (c.entries + c.most - 1) / c.most
		c.size, c.larger = c.entries/tables, c.entries%tables
		if err := c.unspool(); err != nil {
			return err
		}
	}
	return c.closeTable()
}

// close removes the spool.
func (c *cutter) close() error {
	if c.spool == nil {
		return nil
	}
	return c.spool.close()
}
