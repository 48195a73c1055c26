package set

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/table"
)

// BuilderOptions are options of a [Builder] and of [Publish]. The zero value of each field is its
// default.
type BuilderOptions struct {
	// Layer adds a layer to the set in the Store. It is an error if there is none. Without Layer, a
	// set is written, which replaces the one in the Store.
	Layer bool

	// EntriesPerTable is the maximum number of entries of a table. Zero means 1,000,000. Tables get
	// about equal numbers: the largest has at most 1.3 times as many entries as the mean, or 1 more.
	EntriesPerTable int

	// Writer are the options of the tables. If it is nil, the defaults are used. Tables of removed
	// keys have no Never.
	Writer *table.WriterOptions

	// NewTable returns the writer of a table to w. If it is nil, a [TableWriter] with the options
	// Writer is used. removals is whether the keys of the table are removed.
	NewTable func(w io.Writer, removals bool) (TableAppender, error)

	// TempDir is the directory of a temporary file, which keeps the first entries until their
	// number is known. Where the system allows it, the file has no name. If TempDir is "", the
	// directory is os.TempDir.
	TempDir string

	// If Check is not nil, it is called with the manifest in the Store, or nil, before anything is
	// written, and again before the manifest is replaced. If it returns an error, the set stays.
	Check func(base *Manifest) error

	// If Stored is not nil, Commit calls it for each table that has got its name. found is whether
	// a file of that name and size was there.
	Stored func(t Table, found bool)

	// Part is the number of a part of a set that several Builders write, also on several machines.
	// If it is 0, the Builder writes the whole set. Parts have ranges of keys in the order of their
	// numbers, from 1 on. Commit stores one table of the part's entries and one of its removals,
	// and writes no manifest: Publish does, with the tables of all parts.
	Part int

	// Lease is the name of a lease, from [NewLease]. NewBuilder renews it, and it ends when the
	// manifest is written. If it is "" and the Store has no lock, Commit has a lease of its own.
	Lease string
}

// A TableAppender writes a table. Close returns the table's line in the manifest, without the name.
type TableAppender interface {
	Append(key, value []byte) error
	Close() (Table, error)
	Abort() error
}

// defaultEntries are the EntriesPerTable if they are 0.
const defaultEntries = 1_000_000

// A Builder writes a set to a [Store], or adds a layer to one. The tables get their names when all
// are complete, and the manifest comes last: so a set that is replaced is whole until the new
// manifest is there. The same entries make the same tables. Tables of an older manifest stay, since
// others may read or list them: [Sweep] removes them. The calls come in the order
//
//	NewBuilder (Append | Remove)* (Commit | Abort)
//
// One goroutine at a time may use a Builder. Several may write to one Store at a time, in any
// processes: a set is that of the last one. If the Store is a [Locker] or a [Replacer], no layer is
// lost. Otherwise only one Builder at a time may add a layer.
type Builder struct {
	ctx     context.Context
	store   Store
	o       BuilderOptions
	pending Pending // nil after the end

	entries, removals *cutter
	tables            []Table // in the order of their creation
	isRemovals        []bool  // whether each of tables is one of removals
}

// NewBuilder returns a Builder. If o is nil, the defaults are used. After ctx is done, calls fail.
func NewBuilder(ctx context.Context, s Store, o *BuilderOptions) (*Builder, error) {
	b := &Builder{ctx: ctx, store: s}
	if o != nil {
		b.o = *o
	}
	if b.o.EntriesPerTable < 0 || b.o.Part < 0 {
		return nil, fmt.Errorf("set: EntriesPerTable is %d and Part is %d, want both >= 0", b.o.EntriesPerTable, b.o.Part)
	}
	most := cmp.Or(b.o.EntriesPerTable, defaultEntries)
	if b.o.Part > 0 {
		most = 0
	} else if _, err := readBase(ctx, s, &b.o); err != nil { // of parts, Publish looks whether they fit
		return nil, err
	}
	b.entries = newCutter(most, b.o.TempDir, func() (entryWriter, error) { return b.startTable(false) })
	b.removals = newCutter(most, b.o.TempDir, func() (entryWriter, error) { return b.startTable(true) })
	var err error
	if b.pending, err = s.Begin(ctx); err != nil {
		return nil, err
	}
	if b.o.Lease != "" {
		if err := renewLease(ctx, s, b.o.Lease); err != nil {
			return nil, errors.Join(err, b.Abort())
		}
	}
	return b, nil
}

// Append adds an entry. Its key must be > that of the Append before.
func (b *Builder) Append(key, value []byte) error { return b.append(b.entries, key, value) }

// Remove removes a key from the set that a layer is added to. The set need not have it. The key
// must be > that of the Remove before. A key that is appended too is not removed.
func (b *Builder) Remove(key []byte) error {
	if !b.o.Layer {
		return errors.New("set: Remove without Layer: a new set has nothing to remove")
	}
	return b.append(b.removals, key, nil)
}

func (b *Builder) append(to *cutter, key, value []byte) error {
	if err := b.check(); err != nil {
		return err
	}
	return to.Append(key, value)
}

// check returns an error after the end of the Builder or of its context.
func (b *Builder) check() error {
	if b.pending == nil {
		return table.ErrClosed
	}
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	return nil
}

// startTable starts the next table.
func (b *Builder) startTable(removals bool) (entryWriter, error) {
	file, err := b.pending.Create(b.ctx)
	if err != nil {
		return nil, err
	}
	w, err := b.newTable(file, removals)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	b.tables, b.isRemovals = append(b.tables, Table{}), append(b.isRemovals, removals)
	return &tableInProgress{w, file, b, len(b.tables) - 1}, nil
}

func (b *Builder) newTable(w io.Writer, removals bool) (TableAppender, error) {
	if b.o.NewTable != nil {
		return b.o.NewTable(w, removals)
	}
	var o table.WriterOptions
	if b.o.Writer != nil {
		o = *b.o.Writer
	}
	if removals {
		o.Never = nil
	}
	return NewTableWriter(w, &o)
}

// A tableInProgress is a table that takes entries.
type tableInProgress struct {
	TableAppender
	file io.Closer
	b    *Builder
	i    int // in tables
}

// Close completes the table.
func (t *tableInProgress) Close() (err error) {
	t.b.tables[t.i], err = t.TableAppender.Close()
	return errors.Join(err, t.file.Close())
}

// Abort ends the table. Pending removes it.
func (t *tableInProgress) Abort() error { return errors.Join(t.TableAppender.Abort(), t.file.Close()) }

// Abort removes the tables that have no names yet, and what else NewBuilder has created. After
// Commit, Abort does nothing, so it can be deferred.
func (b *Builder) Abort() error {
	if b.pending == nil {
		return nil
	}
	err := errors.Join(b.entries.abort(), b.removals.abort(), b.pending.Abort())
	b.pending = nil
	return err
}
