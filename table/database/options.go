package database

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/sievetable/sievetable/table"
)

// Options are options of a DB. The zero value of each field is its default. A value out of range
// is an error of Open and OpenFS.
type Options struct {
	// Reader has the options of the tables: Cache, Codecs, policies of filters, and others. It is an
	// error to set Name, CacheKey, TailSum, Comparer or FilterKey, since the database gives them.
	// With Mapped, no file stays open.
	Reader table.ReaderOptions

	// Comparers are the orders of user keys that Open knows. It uses the first one whose Name is that of
	// the comparator in the MANIFEST. [table.BytewiseComparer] and [IDBComparer] need not be set. If keys
	// of different bytes can be equal in an order, it must be a [table.FilterKeyer], whose FilterKey can
	// return nil: lookups then ask no filters.
	Comparers []table.Comparer

	// If OnLoss is not nil, Open calls it once for each table that is missing or corrupt, for each missing log, and
	// for each part of a log that cannot be read. If it returns true, Open goes on without that. Otherwise Open
	// fails with l.Err. It is not called for a corrupt MANIFEST.
	//
	// Without a table, lookups of keys in its range fail with a [*merge.HiddenError], and iterators fail there, unless
	// OnLoss of their options returns true. Without a log, older values show, also of keys that it has deleted.
	OnLoss func(l table.Loss) bool

	// If LazyTables is set, a table is opened at its first use instead of by Open. Use it if few of many tables are
	// needed: Open takes less time, and only tables that were used take memory.
	//
	// If a table is missing or corrupt, the lookups and iterators that need it fail with an error that names the file,
	// and never with table.ErrNotFound: as after an OnLoss that has returned true. OnLoss is not called for tables.
	// Goroutines that need a table at the same time wait for one of them to open it. If it cannot be opened for another
	// reason, the next use tries again.
	//
	// A table that an engine deletes before its first use is missing. So leave LazyTables unset if an engine writes to
	// the database. If another directory has taken the name dir, tables that were not used cannot be opened.
	LazyTables bool

	// IgnoreLogs leaves out the writes that are in no table yet. The DB then shows older values of
	// their keys, and keys that they have deleted. Set it to read a database whose log is lost.
	IgnoreLogs bool
}

// withDefaults returns a copy with defaults filled in.
func (o *Options) withDefaults() (Options, error) {
	var d Options
	if o != nil {
		d = *o
	}
	if err := checkUnset(&d.Reader); err != nil {
		return d, err
	}
	if slices.Contains(d.Comparers, nil) {
		return d, errors.New("database: one of Comparers is nil")
	}
	// The caller may change its slices before a table is opened.
	d.Reader.FilterPolicies, d.Reader.Codecs = slices.Clone(d.Reader.FilterPolicies), slices.Clone(d.Reader.Codecs)
	d.Reader.TableFilterPolicies, d.Reader.FilterPrefixes = slices.Clone(d.Reader.TableFilterPolicies), slices.Clone(d.Reader.FilterPrefixes)
	d.Comparers = append(slices.Clip(d.Comparers), table.BytewiseComparer, IDBComparer)
	// A file without bytes is damaged, but only if the options are good.
	if _, err := table.NewReader(bytes.NewReader(nil), 0, &d.Reader); !errors.Is(err, table.ErrCorrupt) {
		return d, err
	}
	return d, nil
}

// checkUnset checks the options of Readers that a DB does not take.
func checkUnset(r *table.ReaderOptions) error {
	for _, option := range []struct {
		name string
		set  bool
	}{
		{"Name", r.Name != ""},
		{"CacheKey", r.CacheKey != ""},
		{"TailSum", r.TailSum != [sha256.Size]byte{}},
		{"Comparer", r.Comparer != nil},
		{"FilterKey", r.FilterKey != nil},
	} {
		if option.set {
			return fmt.Errorf("database: Reader.%s is set, want it unset: the database gives it", option.name)
		}
	}
	return nil
}

// comparer returns the order with the name that a MANIFEST has. LevelDB takes a MANIFEST without a
// name for one of the bytewise order.
func (o *Options) comparer(name string) (c table.Comparer, ok bool) {
	if name == "" {
		return table.BytewiseComparer, true
	}
	i := slices.IndexFunc(o.Comparers, func(c table.Comparer) bool { return c.Name() == name })
	if i < 0 {
		return nil, false
	}
	return o.Comparers[i], true
}

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
