package database

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/table"
)

// Options are options of a DB. A value out of range is an error.
type Options struct {
	// Reader has the options of the tables. Name, CacheKey, TailSum, Comparer and FilterKey must not be set.
	Reader table.ReaderOptions

	// Comparers are user-key orders, besides [table.BytewiseComparer] and [IDBComparer]. The MANIFEST names the one that
	// is used. If different keys can be equal, it must have a FilterKey, which may return nil: then no filter is
	// consulted.
	Comparers []table.Comparer

	// If OnLoss is not nil, Open calls it once for each missing or corrupt table, missing log, and unreadable or
	// missing part of a log. If it returns true, Open continues without it. Lookups and iterators then fail in a lost
	// table's range: see OnLoss of [table.IterOptions]. Without a log's writes, overwritten and deleted entries can
	// reappear.
	OnLoss func(l table.Loss) bool

	// LazyTables makes the first use of a table open it, instead of Open. If the table is missing or corrupt, only
	// lookups and iterators that need it fail, never with table.ErrNotFound, and OnLoss is not called for it. Do not set
	// it if an engine is writing: a table that it deletes before its first use is missing.
	LazyTables bool

	IgnoreLogs bool // leave out recent writes, if a log is lost; overwritten and deleted entries can reappear
}

// withDefaults returns a copy with defaults filled in.
func (o *Options) withDefaults() (Options, error) {
	d := *cmp.Or(o, &Options{})
	const why = "the database sets it"
	unset := map[string]string{"Name": why, "CacheKey": why, "TailSum": why, "Comparer": why, "FilterKey": why}
	if err := dbread.OwnOptions("database", &d.Reader, unset); err != nil {
		return d, err
	}
	if slices.Contains(d.Comparers, nil) {
		return d, errors.New("database: nil Comparer in Comparers")
	}
	d.Comparers = append(slices.Clip(d.Comparers), table.BytewiseComparer, IDBComparer)
	return d, nil
}

// comparer returns the Comparer that a MANIFEST names, or nil if it is unknown. Like LevelDB, it takes a missing name
// as the bytewise order.
func (o *Options) comparer(name string) table.Comparer {
	if name == "" {
		return table.BytewiseComparer
	}
	if i := slices.IndexFunc(o.Comparers, func(c table.Comparer) bool { return c.Name() == name }); i >= 0 {
		return o.Comparers[i]
	}
	return nil
}

// WriterOptions are options of a Writer. A value out of range is an error.
type WriterOptions struct {
	// Table has the options of the tables. Comparer is the order of user keys, which a program must know to open the
	// database. Filters contain user keys. C++ LevelDB and goleveldb both read uncompressed and Snappy blocks.
	// FilterKey, Never, FilterOnly and a Comparer for internal keys must not be set.
	Table table.WriterOptions

	// TableSize is the approximate size of a table in bytes, up to 1 TiB. Zero means 2 MiB, as in LevelDB. All versions
	// of a user key are in one table, which can exceed it.
	TableSize int64

	Mode fs.FileMode // permissions of a new directory, whatever umask is; its owner has all; zero means the defaults
}

const (
	defaultTableSize       = 2 << 20
	maxTableSize     int64 = 1 << 40
)

// withDefaults returns a copy with defaults filled in. The Comparer is then for internal keys.
func (o *WriterOptions) withDefaults() (w WriterOptions, user table.Comparer, err error) {
	w = *cmp.Or(o, &WriterOptions{})
	if w.TableSize < 0 || w.TableSize > maxTableSize {
		return w, nil, fmt.Errorf("database: TableSize is %d: must be 0 to %d", w.TableSize, maxTableSize)
	}
	if w.Mode&^(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
		return w, nil, fmt.Errorf("database: Mode is %v: must be permissions, without a file type", w.Mode)
	}
	w.TableSize = cmp.Or(w.TableSize, defaultTableSize)
	if err := checkTableOptions(&w.Table); err != nil {
		return w, nil, err
	}
	user = cmp.Or(w.Table.Comparer, table.BytewiseComparer)
	w.Table.Comparer = table.InternalComparer(user)
	t, err := table.NewWriter(io.Discard, &w.Table)
	if err != nil {
		return w, nil, err
	}
	return w, user, t.Abort()
}

// checkTableOptions rejects options of tables that a database cannot have.
func checkTableOptions(o *table.WriterOptions) error {
	switch {
	case o.FilterKey != nil:
		return errors.New("database: Table.FilterKey must not be set: filters of a database contain user keys")
	case o.Never != nil:
		return errors.New("database: Table.Never must not be set: engines ignore it")
	case o.FilterOnly:
		return errors.New("database: Table.FilterOnly must not be set: a database needs entries")
	}
	if o.Comparer == nil {
		return nil
	}
	switch name := o.Comparer.Name(); name {
	case table.InternalComparer(nil).Name(), table.AnyOrder.Name():
		return fmt.Errorf("database: Table.Comparer is %q: must be the order of user keys", name)
	}
	return nil
}
