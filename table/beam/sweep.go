package setio

import (
	"context"
	"regexp"

	"github.com/sievetable/sievetable/table/set"
)

// ours matches the names of tables and temporary files that builds write.
var ours = regexp.MustCompile(
	`^([0-9]{6,}-[0-9a-f]{64}(-[0-9]+)?\.(ldb|filter)|sievetable-` + owner + `-[0-9a-f]{16}\.tmp)$`)

// Sweep removes the tables and temporary files that builds have written in dir, which is as in [Write].
// It keeps the tables of the manifest in dir and those of keep, such as the manifest that a service still
// reads. A nil manifest has none. Files of other programs stay, as those that the command sst writes.
//
// Sweep removes nothing and returns [set.ErrBuilding] while a build in dir runs, and for 24 hours after one
// has failed: a build has tables that no manifest lists yet. In a directory of the operating system,
// Sweep has the lock of the manifest, set.jsonl.lock: a build that ends waits for it, and then fails if a
// table of it is gone. In other file systems there is no lock: do not start a build while Sweep runs
// there.
func Sweep(ctx context.Context, dir string, keep ...*set.Manifest) error {
	if err := checkDir(dir); err != nil {
		return err
	}
	return withStore(ctx, dir, func(st set.Store) error {
		return set.Sweep(ctx, st, &set.SweepOptions{
			Match: ours.MatchString,
			Keep:  func(context.Context) ([]*set.Manifest, error) { return keep, nil },
		})
	})
}
