package set

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/spool"
	"github.com/sievetable/sievetable/table"
)

// An entryWriter takes the entries of one table.
type entryWriter interface {
	Append(key, value []byte) error
	Close() error
	Abort() error
}

// evenTables is the number of full tables that the spool has room for. With fewer full tables, a small last table
// would make the largest one more than 1.3 times the mean.
const evenTables = 4

// A cutter distributes entries over tables of at most most entries. The largest table has at
// most 1.3 times as many entries as the mean, or 1 more. The number of entries is not known
// before the last one, so the first entries are kept in a temporary file. If it has all of them,
// they are distributed evenly. Otherwise all tables but the last are full.
type cutter struct {
	most  int // entries per table; 0 means no limit
	start func() (entryWriter, error)

	spool    spool.File
	spooling bool   // the entries are in spool
	last     []byte // the last key
	entries  int    // of all tables

	table entryWriter // nil: the next entry starts one
	room  int         // entries that table still takes
	left  int         // spooled entries that are in no table yet
}

func newCutter(most int, tempDir string, start func() (entryWriter, error)) *cutter {
	return &cutter{most: most, start: start, spool: spool.File{Dir: tempDir}, spooling: most > 0}
}

// Append adds an entry. Its key must be > the key before.
func (c *cutter) Append(key, value []byte) error {
	if c.entries > 0 && bytes.Compare(key, c.last) <= 0 {
		return fmt.Errorf("%w: %s after %s", table.ErrOrder, format.Quote(key), format.Quote(c.last))
	}
	c.last = append(c.last[:0], key...)
	if c.spooling && c.entries/evenTables == c.most { // their product may overflow
		if err := c.unspool(); err != nil {
			return err
		}
	}
	c.entries++
	if c.spooling {
		return c.spool.Append(key, value)
	}
	return c.append(key, value)
}

// append adds an entry to the current table.
func (c *cutter) append(key, value []byte) (err error) {
	if c.table == nil {
		if c.table, err = c.start(); err != nil {
			return err
		}
		c.room = c.most
		if c.left > 0 {
			tables := (c.left-1)/c.most + 1
			c.room = (c.left-1)/tables + 1
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

// closeTable completes the current table, if there is one.
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
	if !c.spooling {
		return nil
	}
	c.spooling, c.left = false, c.entries
	run, err := c.spool.End()
	r := c.spool.Open(run)
	for err == nil && r.Next() {
		err = c.append(r.Key(), r.Value())
		c.left--
	}
	return errors.Join(cmp.Or(err, r.Error()), c.spool.Close())
}

// finish completes the last table.
func (c *cutter) finish() error {
	if err := c.unspool(); err != nil {
		return err
	}
	return c.closeTable()
}

// abort removes the spool, and aborts the current table.
func (c *cutter) abort() (err error) {
	if c.table != nil {
		err = c.table.Abort()
		c.table = nil
	}
	if c.spooling {
		err = errors.Join(err, c.spool.Close())
	}
	return err
}
