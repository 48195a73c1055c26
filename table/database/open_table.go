package database

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/mappings"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// An openedTable is a table that is open.
type openedTable struct {
	*table.Reader
	listed *versions.Table
	name   string    // of the file in the directory
	path   string    // of the file
	file   io.Closer // nil: the Reader closes it
	lost   error     // why there is no Reader, or nil
}

// Close closes the table.
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

// loss returns the loss of a table that is lost.
func (t *openedTable) loss() table.Loss {
	return table.Loss{File: t.path, Offset: -1, From: t.listed.Smallest, To: t.listed.Largest, Err: t.lost}
}

// tableNamed returns a table that is not open yet.
func (p *opener) tableNamed(name string, t *versions.Table) *openedTable {
	return &openedTable{listed: t, name: name, path: p.dir.Path(name)}
}

// tableName returns the name of a table's file.
func tableName(t *versions.Table) string { return fmt.Sprintf("%06d.ldb", t.Number) }

// iter returns an Iterator over the table. Without the table there is none, unless o.OnLoss goes on.
func (t *openedTable) iter(o *table.IterOptions) (merge.Iterator, error) {
	if t.lost == nil {
		return t.NewIter(o), nil
	}
	if o.OnLoss == nil || !o.OnLoss(t.loss()) {
		return nil, t.lost
	}
	return merge.New(nil), nil
}

// openTable opens a table of a version, unless it is open.
func (p *opener) openTable(t *versions.Table, v *versions.Version, c *contents) (*openedTable, error) {
	o := p.opened[t.Number]
	if o != nil && !sameTable(o.listed, t) {
		delete(p.opened, t.Number)
		o.Close() // it was only read
		o = nil
	}
	if o == nil {
		var err error
		if o, err = p.openListed(t, v, c); err != nil {
			return nil, err
		}
		p.opened[t.Number] = o
	}
	return o, p.checkSeparators(o, v, c)
}

// openListed opens the file of a table that a version lists.
func (p *opener) openListed(t *versions.Table, v *versions.Version, c *contents) (*openedTable, error) {
	name := tableName(t)
	info, err := p.dir.Stat(name)
	if errors.Is(err, fs.ErrNotExist) { // as old engines named it
		old := fmt.Sprintf("%06d.sst", t.Number)
		if oldInfo, oldErr := p.dir.Stat(old); oldErr == nil {
			name, info, err = old, oldInfo, nil
		}
	}
	o := p.tableNamed(name, t)
	if err == nil && uint64(info.Size()) < t.Size {
		return nil, wal.Corruptionf("%s: size is %d, want %d as %s says: %s", o.path, info.Size(), t.Size, v.Manifest, p.advice())
	}
	if err == nil {
		err = p.openReader(o, info.Size(), c)
	}
	if errors.Is(err, table.ErrCorrupt) && uint64(info.Size()) > t.Size {
		return nil, wal.Corruptionf("%s: size is %d, want %d as %s says, and no table ends there: %v: %s", o.path, info.Size(), t.Size, v.Manifest, err, p.advice())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, wal.Corruptionf("%s does not exist, and %s lists this table: %s", o.path, v.Manifest, p.advice())
	}
	return o, err
}

// openReader opens the Reader of a table whose file has so many bytes.
func (p *opener) openReader(o *openedTable, size int64, c *contents) (err error) {
	opts := p.o.Reader
	opts.Comparer = c.internal
	if c.order == IDBComparer { // equal keys can have different bytes, and filters have one of them
		opts.FilterKey = func([]byte) []byte { return nil }
	}
	switch fsys := p.dir.FS(); {
	case size > int64(o.listed.Size): // engines do not read what follows
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

// openStart opens the table at the start of a file. NewReader does not see whether its filters deny
// its keys, as Open does, so they are not used.
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

// has reports whether a separator is one of the table's keys. Engines shorten most to others, which have the
// highest sequence number there is.
func (t *openedTable) has(separator []byte) bool {
	key, _, err := t.Find(separator)
	return err == nil && bytes.Equal(key, separator)
}

// checkSeparators returns an error if goleveldb's recovery has written a table of level 0: with internal
// keys in the order of user keys, in which lookups miss keys. Its separators are then no internal
// keys of this database.
func (p *opener) checkSeparators(o *openedTable, v *versions.Version, c *contents) error {
	if o.listed.Level > 0 {
		return nil
	}
	layout, err := o.Layout()
	if err != nil {
		return err
	}
	for i, e := range layout.Data {
		k, ok := table.ParseInternalKey(e.Separator)
		known := ok && (k.Sequence <= v.LastSequence || k.Sequence == table.MaxSequence)
		if ok && !known && o.has(e.Separator) {
			return wal.Corruptionf("%s: the last sequence number is %d, but %s has the key %v: %s", p.dir.Path(v.Manifest), v.LastSequence, o.name, k, p.advice())
		}
		if !known || i > 0 && c.internal.Compare(layout.Data[i-1].Separator, e.Separator) >= 0 {
			return wal.Corruptionf("%s: index block: separator %d is %s, want one in the order of internal keys, with a sequence number ≤ %d: "+
				"most likely goleveldb's recovery wrote the table; open the database with goleveldb and call CompactRange, or see \"sst scan %s\"",
				o.path, i, format.Quote(e.Separator), v.LastSequence, p.dir.Path(""))
		}
	}
	return nil
}

// parsed splits an internal key, of which the form was checked.
func parsed(key []byte) table.InternalKey {
	k, _ := table.ParseInternalKey(key)
	return k
}

// sameTable reports whether two versions list the same file. Engines can give the number of a file
// that they have removed to another one.
func sameTable(a, b *versions.Table) bool {
	return a.Number == b.Number && a.Size == b.Size && bytes.Equal(a.Smallest, b.Smallest) && bytes.Equal(a.Largest, b.Largest)
}
