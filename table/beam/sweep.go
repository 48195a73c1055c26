package setio

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/sievetable/sievetable/table/set"
)

// ours matches the names of tables, temporary files and leases that builds write.
var ours = regexp.MustCompile(
	`^([0-9]{6,}-[0-9a-f]{64}(-[0-9]+)?\.(ldb|filter)|` +
		`sievetable-(` + owner + `-[0-9a-f]{16}\.tmp|[0-9a-f]{16}\.lease))$`)

// Sweep removes the tables and temporary files that builds have written in dir, which is as in [Write].
// It keeps the tables of the manifest in dir and those of keep, such as the manifest that a service still
// reads. A nil manifest has none. Files of other programs stay, as those that the command sst writes.
//
// Sweep removes nothing and returns [ErrBuilding] while a build in dir runs, and for 24 hours after one
// has failed: a build has tables that no manifest lists yet. In a directory of the operating system,
// Sweep has the lock of the manifest, set.jsonl.lock: a build that ends waits for it, and then fails if a
// table of it is gone. In other file systems there is no lock: do not start a build while Sweep runs
// there.
func Sweep(ctx context.Context, dir string, keep ...*set.Manifest) error {
	if err := checkDir(dir); err != nil {
		return err
	}
	return withStore(ctx, dir, func(st store) error { return sweep(ctx, st, keep) })
}

// sweep is Sweep of the directory.
func sweep(ctx context.Context, st store, keep []*set.Manifest) error {
	unlock, err := lockIfPossible(ctx, st)
	if err != nil {
		return err
	}
	defer unlock()
	obsolete, err := findObsolete(ctx, st, keep)
	if err != nil {
		return err
	}
	for _, name := range obsolete {
		if err := st.remove(ctx, name); err != nil {
			return fmt.Errorf("setio: remove a file of an earlier build: %w", err)
		}
	}
	return nil
}

// findObsolete returns the files of builds that no manifest lists. It is an error if a build has a lease.
func findObsolete(ctx context.Context, st store, keep []*set.Manifest) ([]string, error) {
	names, err := st.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("setio: list the tables of earlier builds: %w", err)
	}
	for _, name := range names {
		if leases.MatchString(name) {
			if err := checkLease(ctx, st, name); err != nil {
				return nil, err
			}
		}
	}
	current, err := readManifest(ctx, st)
	if err != nil {
		return nil, err
	}
	kept := namesIn(append(slices.Clone(keep), current))
	return slices.DeleteFunc(names, func(name string) bool { return kept[name] || !ours.MatchString(name) }), nil
}

// namesIn returns the names of the tables of manifests, which may be nil.
func namesIn(manifests []*set.Manifest) map[string]bool {
	names := map[string]bool{}
	for _, m := range manifests {
		if m != nil {
			for t := range m.All() {
				names[t.Name] = true
			}
		}
	}
	return names
}
