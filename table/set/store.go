package set

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/sievetable/sievetable/table"
)

// A Store is where the files of a set are: a directory ([DirStore]), a bucket, or any other file
// system. [Builder], [Publish] and [Sweep] change the set in it. Names are those of files beside
// the manifest. A Store must be safe for concurrent use. It can also be a [Locker] or a [Replacer].
type Store interface {
	// Path returns what users call the file name.
	Path(name string) string

	// List returns all files, and what Begin of a process that was killed has left.
	List(ctx context.Context) ([]File, error)

	// Stat describes a file. If its time of modification is not known, Modified is zero.
	Stat(ctx context.Context, name string) (File, error)

	// Open opens a file for reading. If there is none, the error is fs.ErrNotExist.
	Open(ctx context.Context, name string) (io.ReadCloser, error)

	// Put writes a small file, or replaces it in one step.
	Put(ctx context.Context, name string, content []byte) error

	// Begin begins tables that have no names yet. It creates the Store, if that is possible.
	Begin(ctx context.Context) (Pending, error)

	// Remove removes a file, if there is one. If the Store can remove none, the error is
	// errors.ErrUnsupported.
	Remove(ctx context.Context, name string) error
}

// A File is a file of a [Store]. If List of the Store knows only the name, Size is -1 and Modified
// is zero: Stat is called where they are needed.
type File struct {
	Name     string
	Size     int64     // in bytes
	Modified time.Time // of the last change
}

// Pending are tables that have no names yet. Its calls come in the order Create* (Publish | Abort).
type Pending interface {
	// Create begins a table. Close of the writer completes it.
	Create(ctx context.Context) (io.WriteCloser, error)

	// Publish stores the tables under their names, in the order of Create. All are closed. A file
	// of the same name and size may stay: it is the same table.
	Publish(ctx context.Context, tables []Table) error

	// Abort removes the tables that have no names. Afterwards, and after Publish, it does nothing.
	// Any goroutine may call it at any time.
	Abort() error
}

// A Locker is a [Store] that only one Builder or Sweep changes at a time. Lock waits until the
// Store is not locked. If it cannot be locked, the error is errors.ErrUnsupported: then leases take
// the place of the lock.
type Locker interface {
	Lock(ctx context.Context) (unlock func(), err error)
}

// A Replacer is a [Store] that can replace a file under a condition, such as objects by their ETag.
// If the file's content is not old, which is nil if there was no file, Replace changes nothing and
// returns [ErrChanged]. The manifest is written by Replace, if the Store has it: without a lock
// too, none of several layers that are added at once is lost. Then the Store is listed once more: if
// a table is missing by then, the error is [ErrGone].
type Replacer interface {
	Replace(ctx context.Context, name string, old, content []byte) error
}

// A TablePutter is a [Store] that writes a table of a known name at once. Otherwise [PutTable] calls
// Begin for each table. If r fails, there is no new file.
type TablePutter interface {
	PutTable(ctx context.Context, t Table, r io.Reader) error
}

// ErrChanged is the error of a [Replacer] for a file that another program has changed.
var ErrChanged = errors.New("another program has changed it")

// ErrMissing is in the chain of the error for a table that is to be listed and is not in the Store.
var ErrMissing = errors.New("there is no such table of that size")

// ErrGone is in the chain of the error for a table that was removed while a manifest was written that
// lists it. It is [table.ErrCorrupt].
var ErrGone error = corruptError{errors.New("it was removed at the same time")}

// A corruptError is also table.ErrCorrupt.
type corruptError struct{ error }

func (e corruptError) Unwrap() []error { return []error{e.error, table.ErrCorrupt} }

// PutTable stores the table t, of which r reads the bytes. If these do not have the size and the
// SHA-256 of t, the error is [ErrMismatch], and nothing is stored.
func PutTable(ctx context.Context, s Store, t Table, r io.Reader) (err error) {
	r = &checkedTable{ctx: ctx, r: r, t: t, sum: sha256.New()}
	if p, ok := s.(TablePutter); ok {
		return p.PutTable(ctx, t, r)
	}
	p, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Abort()) }() // which does nothing after Publish
	w, err := p.Create(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	return p.Publish(ctx, []Table{t})
}

// A checkedTable reads a table. At its end, it compares the bytes with the line in the manifest.
type checkedTable struct {
	ctx context.Context // after it is done, reads fail
	r   io.Reader
	t   Table
	n   int64
	sum hash.Hash
}

func (c *checkedTable) Read(p []byte) (n int, err error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err = c.r.Read(p)
	c.n += int64(n)
	c.sum.Write(p[:n])
	if err != io.EOF {
		return n, err
	}
	if c.n != c.t.Size {
		return n, c.t.mismatch("size", "it has %d bytes, want %d as its line in the manifest says", c.n, c.t.Size)
	}
	if sum := hex.EncodeToString(c.sum.Sum(nil)); sum != c.t.SHA256 {
		return n, c.t.mismatch("sha256", "it is %s, not %s as its line in the manifest says", sum, c.t.SHA256)
	}
	return n, io.EOF
}

// Tables have names before a manifest lists them, and Sweep must not remove them. A lock keeps it
// from that. Where there is no lock, or many processes write the parts of a set, a lease does: a
// file in the Store, from the first table to the manifest. A build that is killed leaves its lease,
// which ends leaseTime later.

// leaseTime is how long a lease lasts after it was written. It is longer than a build goes on
// without a table.
const leaseTime = 24 * time.Hour

// ErrBuilding is in the chain of [Sweep]'s error if a set is being built in the Store, or a build
// has failed less than 24 hours ago.
var ErrBuilding = errors.New("a build has its tables there")

// leases matches the names of leases.
var leases = regexp.MustCompile(`^sievetable-[0-9a-f]{16}\.lease$`)

// NewLease returns the name of a lease, for Lease of [BuilderOptions]. All Builders of a set share
// it. It lasts 24 hours after the last NewBuilder, or until Publish has written the manifest.
func NewLease() string { return fmt.Sprintf("sievetable-%016x.lease", rand.Uint64()) }

// renewLease begins the lease, or makes it last longer.
func renewLease(ctx context.Context, s Store, name string) error {
	const content = "A build of a set writes tables here. It has ended if this file is older than a day.\n"
	if err := s.Put(ctx, name, []byte(content)); err != nil {
		return fmt.Errorf("set: write %s: %w", s.Path(name), err)
	}
	return nil
}

// checkLease returns an error if the lease of that name lasts. One whose time is not known does.
func checkLease(ctx context.Context, s Store, f File) error {
	f, err := withTime(ctx, s, f)
	since := "at a time that is not known"
	if err == nil && !f.Modified.IsZero() {
		age := time.Since(f.Modified)
		if age >= leaseTime {
			return nil
		}
		since = age.Round(time.Second).String() + " ago"
	}
	return fmt.Errorf("set: %w: %s was written %s: sweep when that build has ended; if it has failed, "+
		"remove the file or wait %v", ErrBuilding, s.Path(f.Name), since, leaseTime)
}

// lock locks the Store, if it can be locked.
func lock(ctx context.Context, s Store) (unlock func(), locked bool, err error) {
	l, ok := s.(Locker)
	if ok {
		unlock, err = l.Lock(ctx)
	}
	if !ok || errors.Is(err, errors.ErrUnsupported) {
		return func() {}, false, nil
	}
	return unlock, err == nil, err
}

// exclusively calls change while the Store is locked. If it cannot be locked and lease is "", there
// is a lease of its own meanwhile. Any other ends with a change that succeeds.
func exclusively(ctx context.Context, s Store, lease string, change func() error) error {
	unlock, locked, err := lock(ctx, s)
	if err != nil {
		return err
	}
	defer unlock()
	own := lease == "" && !locked
	if own {
		lease = NewLease()
		if err := renewLease(ctx, s, lease); err != nil {
			return err
		}
	}
	if err = change(); lease == "" || err != nil && !own {
		return err
	}
	// Where no file can be removed, the lease ends by its age.
	if failed := s.Remove(ctx, lease); failed != nil && !errors.Is(failed, errors.ErrUnsupported) {
		err = errors.Join(err, fmt.Errorf("set: remove %s: %w", s.Path(lease), failed))
	}
	return err
}
