package setio

import (
	"context"
	"regexp"

	"github.com/sievetable/sievetable/table/set"
)

// ours matches the tables and temporary files of builds.
var ours = regexp.MustCompile(
	`^([0-9]{6,}-[0-9a-f]{64}(-[0-9]+)?\.(ldb|filter)|sievetable-` + owner + `-[0-9a-f]{16}\.tmp)$`)

// Sweep removes tables and temporary files that builds have left in dir. For dir, see [Write]. Sweep keeps the
// tables listed by the manifest in dir and by keep, such as a manifest that a service still uses. Files of other
// programs, such as sst, also stay. A nil manifest lists no tables.
//
// While a build in dir runs, and for 24 hours after a failed one, Sweep removes nothing and returns
// [set.ErrBuilding]. In object stores and other remote file systems, there is no lock: do not start a build while
// Sweep runs.
func Sweep(ctx context.Context, dir string, keep ...*set.Manifest) error {
	if err := checkDir(dir); err != nil {
		return err
	}
	return withStore(ctx, dir, func(st set.Store) error {
		return set.Sweep(ctx, st, &set.SweepOptions{
			AnyAge: true,
			Match:  ours.MatchString,
			Keep:   func(context.Context) ([]*set.Manifest, error) { return keep, nil },
		})
	})
}
