package setio

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"
)

// A build has a lease while it runs, so that [Sweep] does not remove its tables. The lease is a file in
// the directory of the set. The build writes it before its first table and again with each table, and
// removes it behind the manifest. A build that fails or is killed leaves its lease, which ends leaseTime
// later.

// leaseTime is how long a lease lasts after it was written. It is longer than a build goes on without a
// table.
const leaseTime = 24 * time.Hour

// ErrBuilding is in the chain of [Sweep]'s error if a build in the directory runs, or has failed less
// than 24 hours ago.
var ErrBuilding = errors.New("a build has its tables there")

// leases matches the names of leases.
var leases = regexp.MustCompile(`^sievetable-[0-9a-f]{16}\.lease$`)

// newLease returns the name of a build's lease. It is chosen when the pipeline is made, so that each
// attempt of each step has the same.
func newLease() string { return fmt.Sprintf("sievetable-%016x.lease", rand.Uint64()) }

// writeLease begins the lease, or makes it last longer.
func writeLease(ctx context.Context, st store, name string) error {
	const content = "A build of a set writes tables here. It has ended if this file is older than a day.\n"
	if err := st.put(ctx, name, []byte(content)); err != nil {
		return fmt.Errorf("setio: write %s: %w", st.path(name), err)
	}
	return nil
}

// checkLease returns an error if the lease of that name lasts. One whose time is not known does.
func checkLease(ctx context.Context, st store, name string) error {
	at, err := st.modified(ctx, name)
	if err == nil && time.Since(at) >= leaseTime {
		return nil
	}
	since := "at a time that is not known"
	if err == nil {
		since = time.Since(at).Round(time.Second).String() + " ago"
	}
	return fmt.Errorf("setio: %w: %s was written %s: call Sweep when that build has ended; if it has failed, "+
		"remove the file or wait %v", ErrBuilding, st.path(name), since, leaseTime)
}
