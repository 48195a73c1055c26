package set

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"
)

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
