package set

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/table"
)

// BuilderOptions are options of a [Builder] and of [Publish].
type BuilderOptions struct {
	Layer           bool                 // add a layer to the Store's set, which must exist, instead of replacing it
	EntriesPerTable int                  // maximum; zero means 1,000,000; up to 4 tables share the entries about equally
	Writer          *table.WriterOptions // of the tables; nil means the defaults, without filters; Never does not apply to removals
	TempDir         string               // of a temporary file for the entries of 4 tables; "" means os.TempDir

	// If NewTable is not nil, it returns the writer of a table to w, instead of a [TableWriter] with the options
	// Writer. removals reports whether the table contains removed keys.
	NewTable func(w io.Writer, removals bool) (TableAppender, error)

	// If Check is not nil, it is called with the Store's manifest, or nil, at the start and before the manifest is
	// replaced. If it returns an error, the set is not changed. With Part, only Publish calls it.
	Check func(base *Manifest) error

	// If Stored is not nil, Commit calls it for each stored table. found is whether it was already stored.
	Stored func(t Table, found bool)

	// Part is the number, from 1 on, of a part of a set, in order of key ranges. Commit stores at most one table of
	// entries and one of removals, without a manifest: call [Publish] with all parts' tables. Zero means the whole set.
	// Part excludes EntriesPerTable.
	Part int

	// Lease is a name from [NewLease], which stops [Sweep] until Publish. If "", only Commit is protected.
	Lease string
}

// A TableAppender writes a table. Close returns its manifest line without Name.
type TableAppender interface {
	Append(key, value []byte) error
	Close() (Table, error)
	Abort() error
}

// defaultEntries is used if EntriesPerTable is 0.
const defaultEntries = 1_000_000

// A Builder writes a set to a [Store], or adds a layer to one. Its methods are called in this order:
//
//	(Append | Remove)* (Commit | Abort)
//
// The old set stays whole until Commit writes the new manifest. The same entries always give the same tables. A
// Builder is not safe for concurrent use. If several write sets to one Store, the last one wins; in a [Replacer],
// Commit returns [ErrChanged] if another program has replaced the manifest meanwhile. For several that add layers, the
// Store must be a [Locker] or a [Replacer].
type Builder struct {
	ctx     context.Context
	store   Store
	o       BuilderOptions
	pending Pending // nil after the end
	failed  error   // of the first failed Append or Remove, whose entry would be missing

	entries, removals *cutter
	tables            []Table // in the order of their creation
	isRemovals        []bool  // for each of tables, whether it contains removals
}

// NewBuilder returns a Builder. If o is nil, the defaults are used. If ctx is done, Append, Remove and Commit return its
// [context.Cause].
func NewBuilder(ctx context.Context, s Store, o *BuilderOptions) (*Builder, error) {
	b := &Builder{ctx: ctx, store: s, o: *cmp.Or(o, &BuilderOptions{})}
	if b.o.EntriesPerTable < 0 || b.o.Part < 0 {
		return nil, fmt.Errorf("set: EntriesPerTable is %d and Part is %d: neither may be negative", b.o.EntriesPerTable, b.o.Part)
	}
	if b.o.EntriesPerTable > 0 && b.o.Part > 0 {
		return nil, errors.New("set: EntriesPerTable is set with Part: all entries of a part are in one table")
	}
	if err := cmp.Or(checkStore(s), checkLeaseName(b.o.Lease)); err != nil {
		return nil, err
	}
	most := cmp.Or(b.o.EntriesPerTable, defaultEntries)
	if b.o.Part > 0 {
		most = 0
	} else if _, err := readBase(ctx, s, &b.o); err != nil { // for parts, Publish checks the base
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

// Append adds an entry. Keys must be in strictly ascending order. After an error, Append, Remove and Commit return it
// again.
func (b *Builder) Append(key, value []byte) error { return b.append(b.entries, key, value) }

// Remove removes a key from the set below the layer, where it may be absent, unless it is also appended. Keys must be
// in strictly ascending order. If the Writer option has FilterOnly, Remove returns an error.
func (b *Builder) Remove(key []byte) error {
	err := b.check()
	switch w := b.o.Writer; {
	case err != nil:
		return err
	case !b.o.Layer:
		b.failed = errors.New("set: Remove without Layer: a new set has nothing to remove")
	case w != nil && w.FilterOnly:
		b.failed = errors.New("set: Remove with FilterOnly: removals must contain keys, not only a filter")
	default:
		return b.append(b.removals, key, nil)
	}
	return b.failed
}

var errPanicked = errors.New("set: an earlier call panicked")

func (b *Builder) append(to *cutter, key, value []byte) error {
	if err := b.check(); err != nil {
		return err
	}
	b.failed = errPanicked // if NewTable or a policy panics, the table is half written
	b.failed = to.Append(key, value)
	return b.failed
}

// check returns an error if the Builder or its context has ended, or after another error.
func (b *Builder) check() error {
	if b.pending == nil {
		return table.ErrClosed
	}
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	return b.failed
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
	o := *cmp.Or(b.o.Writer, &table.WriterOptions{})
	if removals {
		o.Never = nil
	}
	return NewTableWriter(w, &o)
}

// A tableInProgress is a table that is being written.
type tableInProgress struct {
	TableAppender
	file io.Closer
	b    *Builder
	i    int // index in b.tables
}

// Close completes the table and checks its line, which NewTable may have got wrong.
func (t *tableInProgress) Close() (err error) {
	line := &t.b.tables[t.i]
	if *line, err = t.TableAppender.Close(); err == nil {
		if err = line.checkFields(); err != nil {
			err = fmt.Errorf("set: the table: %w", err)
		}
	}
	return errors.Join(err, t.file.Close())
}

// Abort ends the table. Pending removes it.
func (t *tableInProgress) Abort() error { return errors.Join(t.TableAppender.Abort(), t.file.Close()) }

// Commit stores the tables, writes the manifest, and returns the tables. If it fails, call Abort. If the error says
// that the manifest was or may have been written, read it before you add the layer again. After other errors, the old
// set stays. Open Sets use the new manifest after [Set.Swap].
func (b *Builder) Commit() (l Layer, err error) {
	if err := b.check(); err != nil {
		return l, err
	}
	b.failed = errPanicked // the error stays, since the next Commit would lack entries
	if l, b.failed = b.finish(); b.failed != nil {
		return Layer{}, b.failed
	}
	if err := b.Abort(); err != nil {
		return l, fmt.Errorf("set: everything was written, but temporary files stay: %w", err)
	}
	return l, nil
}

// finish completes the last tables, and commits all of them.
func (b *Builder) finish() (l Layer, err error) {
	if err := cmp.Or(b.entries.finish(), b.removals.finish()); err != nil {
		return l, err
	}
	if b.o.Part > 0 {
		return b.storeTables(0)
	}
	err = exclusively(b.ctx, b.store, b.o.Lease, func() error {
		l, err = b.commit()
		return err
	})
	return l, err
}

// restore stores tables again, since a Sweep that began before the lease may have removed some that Publish had found.
// If a table is still missing, such as one of an older layer, restore returns ErrGone.
func (b *Builder) restore(gone error) error {
	if err := b.pending.Publish(b.ctx, b.tables); err != nil {
		return errors.Join(gone, err)
	}
	now, err := readStored(b.ctx, b.store, ManifestName)
	if err != nil || now.Manifest == nil {
		return errors.Join(gone, err)
	}
	return checkStillExist(b.ctx, b.store, ManifestName, now.Manifest)
}

// Abort removes what NewBuilder has created, except a Lease. After Commit, it does nothing.
func (b *Builder) Abort() error {
	if b.pending == nil {
		return nil
	}
	err := errors.Join(b.entries.abort(), b.removals.abort(), b.pending.Abort())
	b.pending = nil
	return err
}
