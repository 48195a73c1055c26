package database

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/mappings"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// An openedTable is a table that is open or lost or, with LazyTables, opened by use.
type openedTable struct {
	*table.Reader
	listed *versions.Table
	name   string    // of the file in the directory
	path   string    // of the file
	file   io.Closer // nil: the Reader closes it
	lost   error     // why there is no Reader, or nil; ErrClosed: use opens it

	attempt atomic.Pointer[func() *openedTable] // opens the table; nil: it is open or lost
}

// use returns the table, open or lost.
func (t *openedTable) use() *openedTable {
	if attempt := t.attempt.Load(); attempt != nil {
		return (*attempt)()
	}
	return t
}

// Close closes the table. It must be one that use has returned.
func (t *openedTable) Close() error {
	if t.lost != nil {
		return nil
	}
	err := t.Reader.Close()
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

func (t *openedTable) loss() table.Loss {
	return table.Loss{File: t.path, Offset: -1, From: t.listed.Smallest, To: t.listed.Largest, Err: t.lost}
}

// lostError is the error of a read that needs the lost table.
func (t *openedTable) lostError() error {
	if t.lost == table.ErrClosed {
		return t.lost
	}
	return fmt.Errorf("database: %w", t.lost)
}

// tableNamed returns a table that is not open yet, or is lost.
func (p *opener) tableNamed(name string, t *versions.Table, lost error) *openedTable {
	return &openedTable{listed: t, name: name, path: p.dir.Path(name), lost: lost}
}

// oldName returns the name that old engines gave to a table.
func oldName(t *versions.Table) string { return fmt.Sprintf("%06d.sst", t.Number) }

// iter returns an Iterator over the table. If the table is lost, it returns an error or, if o.OnLoss accepts the
// loss, an empty Iterator.
func (t *openedTable) iter(o *table.IterOptions) (merge.Iterator, error) {
	if t.lost == nil {
		return t.NewIter(o), nil
	}
	if o.OnLoss == nil || !errors.Is(t.lost, table.ErrCorrupt) || !o.OnLoss(t.loss()) {
		return nil, t.lostError()
	}
	return merge.New(nil), nil
}

// nameOf returns the name that a table's file has in the directory.
func (p *opener) nameOf(t *versions.Table) string {
	name := versions.TableName(t.Number)
	_, found := slices.BinarySearch(p.names, name)
	if _, foundOld := slices.BinarySearch(p.names, oldName(t)); foundOld && !found {
		return oldName(t)
	}
	return name
}

// openTable opens a table of a version, unless it is open.
func (p *opener) openTable(t *versions.Table, v *versions.Version, c *contents) (*openedTable, error) {
	if p.names != nil {
		return p.openLazily(p.tableNamed(p.nameOf(t), t, table.ErrClosed), v, c), nil
	}
	o := p.opened[t.Number]
	if o != nil && !sameTable(o.listed, t) {
		delete(p.opened, t.Number)
		o.Close() // it was only read
		o = nil
	}
	if o == nil {
		var err error
		if o, err = p.openListed(t, v, c); err != nil {
			return o, err
		}
		p.opened[t.Number] = o
	}
	// Opening a mapped table does not read its index. If reading can continue without the table, the index is read now:
	// a corrupt one is then a loss of this table.
	if p.o.Reader.Mapped && (p.o.OnLoss != nil || p.o.LazyTables) {
		if _, err := o.Tail(); err != nil {
			return o, err
		}
	}
	return o, p.checkSeparators(o, v, c)
}

// openListed opens the file of a table that a version lists.
func (p *opener) openListed(t *versions.Table, v *versions.Version, c *contents) (*openedTable, error) {
	name := versions.TableName(t.Number)
	info, err := p.dir.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if oldInfo, oldErr := p.dir.Stat(oldName(t)); oldErr == nil {
			name, info, err = oldName(t), oldInfo, nil
		}
	}
	o := p.tableNamed(name, t, nil)
	if err == nil && uint64(info.Size()) < t.Size {
		return o, wal.Corruptionf("%s: size is %d, but %s lists %d: %s", o.path, info.Size(), v.Manifest, t.Size, p.advice())
	}
	if err == nil {
		err = p.openReader(o, info.Size(), c)
	}
	if errors.Is(err, table.ErrCorrupt) && uint64(info.Size()) > t.Size {
		return o, wal.Corruptionf("%s: size is %d, but %s lists %d, where no table ends: %v: %s", o.path, info.Size(), v.Manifest, t.Size, err, p.advice())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return o, wal.Corruptionf("%s does not exist, but %s lists it: %s", o.path, v.Manifest, p.advice())
	}
	if errors.Is(err, table.ErrCorrupt) {
		err = fmt.Errorf("%w: %s", err, p.advice())
	}
	return o, err
}

// openReader opens the Reader of a table whose file has size bytes.
func (p *opener) openReader(o *openedTable, size int64, c *contents) (err error) {
	opts := p.o.Reader
	opts.Comparer = c.internal
	if c.order == IDBComparer { // equal keys can have different bytes, of which filters contain only one form
		opts.FilterKey = func([]byte) []byte { return nil }
	}
	switch fsys := p.dir.FS(); {
	case size > int64(o.listed.Size): // engines do not read the rest
		return p.openStart(o, &opts)
	case p.files != nil && (fsys != nil || !opts.Mapped || mappings.Left() == 0):
		o.Reader, err = table.OpenFS(p.files, o.path, &opts)
	case fsys != nil:
		o.Reader, err = table.OpenFS(fsys, o.path, &opts)
	default:
		o.Reader, err = table.Open(o.path, &opts)
	}
	return err
}

// openStart opens the table at the start of a longer file. Unlike Open, NewReader does not validate filters, so they
// are not used.
func (p *opener) openStart(o *openedTable, opts *table.ReaderOptions) error {
	open := func() (regular.File, fs.FileInfo, error) { return p.dir.Open(o.name) }
	if p.files != nil {
		open = func() (regular.File, fs.FileInfo, error) { return regular.OpenFS(p.files, o.path) }
	}
	f, _, err := open()
	if err != nil {
		return err
	}
	opts.Name, opts.IgnoreFilter = o.path, true
	if o.Reader, err = table.NewReader(f, int64(o.listed.Size), opts); err != nil {
		return errors.Join(err, f.Close())
	}
	o.file = f
	return nil
}

// has reports whether a separator is one of the table's keys. Engines shorten most separators to other keys, with
// the highest possible sequence number.
func (t *openedTable) has(separator []byte) bool {
	key, _, err := t.Find(separator)
	return err == nil && bytes.Equal(key, separator)
}

// checkSeparators returns an error if goleveldb's recovery has written a table of level 0. Such a table has internal
// keys in the order of user keys, so lookups miss keys. Its separators are not internal keys of this database.
func (p *opener) checkSeparators(o *openedTable, v *versions.Version, c *contents) error {
	if o.listed.Level > 0 {
		return nil
	}
	layout, err := o.Layout()
	if err != nil {
		return err
	}
	for i, e := range layout.Data {
		k, ok := internalkey.Parse(e.Separator)
		known := ok && (k.Sequence <= v.LastSequence || k.Sequence == internalkey.MaxSequence)
		if ok && !known && o.has(e.Separator) {
			return wal.Corruptionf("%s: the last sequence number is %d, but %s has the key %v: %s", p.dir.Path(v.Manifest), v.LastSequence, o.name, k, p.advice())
		}
		if !known || i > 0 && c.internal.Compare(layout.Data[i-1].Separator, e.Separator) >= 0 {
			return wal.Corruptionf("%s: index block: separator %d, %s, is out of order or has a sequence number > %d: "+
				"most likely goleveldb's recovery wrote the table; call goleveldb's CompactRange, or see \"sst scan %s\"",
				o.path, i, format.Quote(e.Separator), v.LastSequence, format.ShellPath(p.dir.Path("")))
		}
	}
	return nil
}

// openLazily makes the first use of a table open it. Concurrent uses wait for it, and return the same table. After a
// panic, or an error other than corruption, the next use tries again.
func (p *opener) openLazily(t *openedTable, v *versions.Version, c *contents) *openedTable {
	attempt := sync.OnceValue(func() (o *openedTable) {
		defer func() {
			if o == nil || o.lost != nil && !errors.Is(o.lost, table.ErrCorrupt) {
				p.openLazily(t, v, c)
			}
		}()
		return p.openLater(t.listed, v, c)
	})
	t.attempt.Store(&attempt)
	return t
}

// openLater opens a table of a DB, unless the DB is closed.
func (p *opener) openLater(t *versions.Table, v *versions.Version, c *contents) *openedTable {
	if c.closed.Load() {
		return &openedTable{lost: table.ErrClosed}
	}
	q := opener{dir: p.dir, o: p.o, files: p.files, opened: map[uint64]*openedTable{}}
	defer q.end()
	o, err := q.openTable(t, v, c)
	if now, statErr := p.dir.Stat(""); p.info != nil && !os.SameFile(p.info, now) {
		err = cmp.Or(statErr, fmt.Errorf("%s: replaced since the database was opened: open the database again", p.dir.Path("")))
	}
	if err == nil {
		clear(q.opened)
		return o
	}
	return p.tableNamed(o.name, t, explainLimit(err))
}

// parsed splits an internal key whose form has been checked.
func parsed(key []byte) internalkey.Key {
	k, _ := internalkey.Parse(key)
	return k
}

// sameTable reports whether two versions list the same file. Engines can reuse the number of a removed file.
func sameTable(a, b *versions.Table) bool {
	return a.Number == b.Number && a.Size == b.Size && bytes.Equal(a.Smallest, b.Smallest) && bytes.Equal(a.Largest, b.Largest)
}
