package set

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"time"
)

// A Store contains a set's files: a directory ([DirStore]), a bucket, or similar. It must be safe for concurrent use.
// It can also be a [Locker], [Replacer] or [TablePutter].
type Store interface {
	Path(name string) string                                      // the file's path or URL, for messages
	List(ctx context.Context) ([]File, error)                     // all files, and leftovers of killed builds
	Stat(ctx context.Context, name string) (File, error)          // Modified may be zero if it is unknown
	Open(ctx context.Context, name string) (io.ReadCloser, error) // a missing file is fs.ErrNotExist
	Put(ctx context.Context, name string, content []byte) error   // writes or atomically replaces a small file
	Begin(ctx context.Context) (Pending, error)                   // begins tables, and creates the Store if possible
	Remove(ctx context.Context, name string) error                // nil if it is missing, errors.ErrUnsupported if the Store cannot
}

// checkStore returns an error for a nil Store.
func checkStore(s Store) error {
	if s == nil {
		return errors.New("set: nil Store")
	}
	return nil
}

// A File is a file in a [Store]. Size is -1 and Modified zero if they are unknown.
type File struct {
	Name     string
	Size     int64     // in bytes
	Modified time.Time // of the last change
}

// Pending are unfinished tables. The calls are Create* Publish* Abort.
type Pending interface {
	// Create begins a table. Close of the writer completes it.
	Create(ctx context.Context) (io.WriteCloser, error)

	// Publish stores all tables under their names, in the order of Create. All are closed. A file of the same name
	// and size may stay. Two tables may have the same name, and then the same bytes. In a [Replacer], Publish may be
	// repeated, to store tables again that were removed meanwhile.
	Publish(ctx context.Context, tables []Table) error

	// Abort removes the tables that Publish has not stored. Any goroutine may call it at any time.
	Abort() error
}

// A Locker is a [Store] that one Builder or Sweep changes at a time. If Lock returns errors.ErrUnsupported, leases
// are used instead.
type Locker interface {
	Lock(ctx context.Context) (unlock func(), err error)
}

// A Replacer is a [Store] with conditional writes: if the file's content is not old, or exists although old is nil,
// Replace returns [ErrChanged].
type Replacer interface {
	Replace(ctx context.Context, name string, old, content []byte) error
}

// A TablePutter is a [Store] that can write a table of a known name directly, for [PutTable]. If r fails, no file is
// created.
type TablePutter interface {
	PutTable(ctx context.Context, t Table, r io.Reader) error
}

// PutTable stores the table t, whose bytes it reads from r. If their size or SHA-256 differs from t, nothing is
// stored, and the error is [ErrMismatch]. A Name that fails [CheckName] is an error too.
func PutTable(ctx context.Context, s Store, t Table, r io.Reader) (err error) {
	if err := cmp.Or(checkStore(s), CheckName(t.Name)); err != nil { // it could be the manifest's name
		return err
	}
	r = &checkedTable{ctx: ctx, r: r, t: t, sum: sha256.New()}
	if p, ok := s.(TablePutter); ok {
		return p.PutTable(ctx, t, r)
	}
	p, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Abort()) }() // which keeps published tables
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

// copyTable copies a table to the name of t.
func copyTable(ctx context.Context, s Store, from string, t Table) error {
	r, err := s.Open(ctx, from)
	if err != nil {
		return err
	}
	defer r.Close() // it was only read
	return PutTable(ctx, s, t, r)
}

// A checkedTable reads a table. At its end, it compares size and SHA-256 with the line in the manifest.
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
		return n, c.t.mismatch("size", "%d bytes in the table, %d in the manifest", c.n, c.t.Size)
	}
	if sum := hex.EncodeToString(c.sum.Sum(nil)); sum != c.t.SHA256 {
		return n, c.t.mismatch("sha256", "%s in the table, %s in the manifest", sum, c.t.SHA256)
	}
	return n, io.EOF
}

// Sweep must not remove new tables that no manifest lists yet. A lock prevents that. If there is no lock, or many
// processes write the parts of a set, a lease does: a file in the Store, from the first table to the manifest. The
// lease of a killed build expires leaseTime after it was written.

// leaseTime is how long a lease lasts after it was written. No build takes that long between two tables.
const leaseTime = 24 * time.Hour

// leases matches the names of leases.
var leases = regexp.MustCompile(`^sievetable-[0-9a-f]{16}\.lease$`)

// NewLease returns a name for Lease of [BuilderOptions]. A lease ends when Publish or Commit has written the manifest,
// or 24 hours after the last NewBuilder.
func NewLease() string { return fmt.Sprintf("sievetable-%016x.lease", rand.Uint64()) }

// checkLeaseName returns an error if a Lease is not from NewLease: Sweep would not see it, and it could be the name of
// another file, such as the manifest.
func checkLeaseName(name string) error {
	if name != "" && !leases.MatchString(name) {
		return fmt.Errorf("set: Lease is %q: must be a result of NewLease", shorten(name))
	}
	return nil
}

// renewLease begins or extends the lease.
func renewLease(ctx context.Context, s Store, name string) error {
	const content = "A build of a set writes tables here. It has ended if this file is older than a day.\n"
	if err := s.Put(ctx, name, []byte(content)); err != nil {
		return fmt.Errorf("set: write %s: %w", s.Path(name), err)
	}
	return nil
}

// checkLease returns an error if the lease has not ended, or if its time is unknown.
func checkLease(ctx context.Context, s Store, f File) error {
	f, err := withTime(ctx, s, f)
	switch {
	case errors.Is(err, fs.ErrNotExist): // its build has ended since List
		return nil
	case err != nil:
		return err
	}
	since := "at an unknown time"
	if !f.Modified.IsZero() {
		age := time.Since(f.Modified)
		if age >= leaseTime {
			return nil
		}
		since = age.Round(time.Second).String() + " ago"
	}
	return fmt.Errorf("set: %w: %s was written %s: sweep after the build; if it has failed, "+
		"remove the file or wait %v", ErrBuilding, s.Path(f.Name), since, leaseTime)
}

// lock locks the Store, if it is a Locker and supports locks.
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

// exclusively calls change while the Store is locked. If it cannot be locked and lease is "", a new lease protects
// it meanwhile. If the caller has a lease, exclusively ends it after a successful change.
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
			endLease(ctx, s, lease) // the Store may have written it, and lost the response
			return err
		}
	}
	if err = change(); lease == "" || err != nil && !own {
		return err
	}
	failed := endLease(ctx, s, lease)
	if err == nil && failed != nil {
		return fmt.Errorf("set: the manifest was written, but its lease stays, and Sweep waits for a day: %w", failed)
	}
	return errors.Join(err, failed)
}

// endLease removes a lease, even if ctx has ended: otherwise Sweep would wait for a day. If the Store cannot remove
// files, the lease ends by its age.
func endLease(ctx context.Context, s Store, name string) error {
	ctx, cancel := outlasting(ctx)
	defer cancel()
	if err := s.Remove(ctx, name); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("set: remove %s: %w", s.Path(name), err)
	}
	return nil
}

// hasEnded reports whether a lease has ended, which a successful change ends. A lease "" never does.
func hasEnded(ctx context.Context, s Store, lease string) (bool, error) {
	if lease == "" {
		return false, nil
	}
	_, err := s.Stat(ctx, lease)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		err = fmt.Errorf("set: look for %s: %w", s.Path(lease), err)
	}
	return false, err
}

// cleanupTime is the time for a last step after a context has ended.
const cleanupTime = 10 * time.Second

// outlasting returns a context that ends cleanupTime after ctx.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(cleanupTime, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}
