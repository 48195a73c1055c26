package database

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/sievetable/sievetable/table"
)

// WriterOptions are options of a [Writer]. The zero value of each field is its default. A value out
// of range is an error of Create.
type WriterOptions struct {
	// Table has the options of the tables. Comparer is the order of the user keys, by default the
	// bytewise one: a program must open the database with a comparator of that name. A FilterPolicy
	// filters user keys. C++ LevelDB and goleveldb read blocks that are compressed by Snappy or not
	// at all, and each its own others.
	//
	// It is an error to set FilterKey, Never or FilterOnly, or a Comparer for internal keys or for
	// any order.
	Table table.WriterOptions

	// TableSize is how many bytes a table has, 1 to 1 TiB: about, since what a table will have is
	// known only when it is complete. It is predicted by how much smaller its pairs became in the table
	// before, at most 8 times. All versions of a user key are in one table, which can have more for
	// that. 0: 2 MiB, as in LevelDB.
	TableSize int64

	// Mode has the permissions of the directory, whatever umask is, beside those of its owner, who has all. An
	// empty directory that is there keeps its own. 0: those of new directories.
	Mode fs.FileMode
}

const (
	defaultTableSize       = 2 << 20
	maxTableSize     int64 = 1 << 40
)

// withDefaults returns a copy with defaults filled in. The Comparer is then that of internal keys.
func (o *WriterOptions) withDefaults() (w WriterOptions, user table.Comparer, err error) {
	if o != nil {
		w = *o
	}
	if w.TableSize < 0 || w.TableSize > maxTableSize {
		return w, nil, fmt.Errorf("database: TableSize is %d, want 0 to %d", w.TableSize, maxTableSize)
	}
	if w.TableSize == 0 {
		w.TableSize = defaultTableSize
	}
	if err := checkTableOptions(&w.Table); err != nil {
		return w, nil, err
	}
	if user = w.Table.Comparer; user == nil {
		user = table.BytewiseComparer
	}
	w.Table.Comparer = table.InternalComparer(user)
	t, err := table.NewWriter(io.Discard, &w.Table)
	if err != nil {
		return w, nil, err
	}
	return w, user, t.Abort()
}

// checkTableOptions checks the options of tables that a database cannot have.
func checkTableOptions(o *table.WriterOptions) error {
	switch {
	case o.FilterKey != nil:
		return errors.New("database: Table.FilterKey is set, want nil: the filters of a database have user keys")
	case o.Never != nil:
		return errors.New("database: Table.Never is set, want nil: the engines ignore it")
	case o.FilterOnly:
		return errors.New("database: Table.FilterOnly is set, but a database has keys and values")
	}
	if o.Comparer == nil {
		return nil
	}
	switch name := o.Comparer.Name(); name {
	case table.InternalComparer(nil).Name(), table.AnyOrder.Name():
		return fmt.Errorf("database: Table.Comparer is %q, want the order of the user keys", name)
	}
	return nil
}
