package set

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// SweepOptions are options of [Sweep]. The zero value of each field is its default.
type SweepOptions struct {
	// If Before is not zero, files that changed after it stay, and so do those whose time of
	// modification is not known.
	Before time.Time

	// Match reports whether a file may be removed if no manifest lists it. If Match is nil, files
	// are removed whose names are those that a Builder gives to tables and temporary files.
	Match func(name string) bool

	// If Keep is not nil, it returns further manifests whose tables stay, such as those that
	// services still read. It is called while the Store is locked. A nil Manifest lists nothing.
	Keep func(ctx context.Context) ([]*Manifest, error)

	// If Found is not nil, it is called for each file to remove, in the order of the names, and
	// removes it or not. Its size and time can be unknown, as in the list of the Store. An error
	// ends Sweep.
	Found func(File) error
}

// swept matches the names that Builders give to tables and temporary files.
var swept = regexp.MustCompile(`^([0-9]{6,}-([0-9a-f]{16}|[0-9a-f]{64})(-[0-9]+)?\.(ldb|filter)|sievetable-.*\.tmp)$`)

// Sweep removes what builds have left in the Store: tables that neither its manifest nor one of
// Keep lists, temporary files of builds that were killed, and leases that have ended. If o is nil,
// files stay that changed within 24 hours.
//
// A build whose tables have names already holds the lock, and Sweep waits for it. If it has a lease
// instead, Sweep removes nothing and returns [ErrBuilding]. Without a lock, start no build while
// Sweep runs. Tables of a build that has not come to Commit are temporary files: Before must be
// longer ago than a build takes. A manifest that cannot be read is an error, since it may list any file.
func Sweep(ctx context.Context, s Store, o *SweepOptions) error {
	if o == nil {
		o = &SweepOptions{Before: time.Now().Add(-24 * time.Hour)}
	}
	unlock, _, err := lock(ctx, s)
	if err != nil {
		return err
	}
	defer unlock()
	files, err := s.List(ctx)
	if err != nil {
		return fmt.Errorf("set: list the files of earlier builds: %w", err)
	}
	for _, f := range files {
		if leases.MatchString(f.Name) {
			if err := checkLease(ctx, s, f); err != nil {
				return err
			}
		}
	}
	listed, err := o.listed(ctx, s)
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range files {
		if !listed[f.Name] {
			err = o.sweep(ctx, s, f)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// listed returns the names of all tables that stay.
func (o *SweepOptions) listed(ctx context.Context, s Store) (map[string]bool, error) {
	current, err := storedManifest{}, error(nil)
	var kept []*Manifest
	if o.Keep != nil {
		kept, err = o.Keep(ctx)
	}
	if err == nil {
		current, err = readStored(ctx, s)
	}
	listed := map[string]bool{ManifestName: true}
	for _, m := range append(slices.Clip(kept), current.Manifest) {
		if m == nil {
			continue
		}
		for t := range m.All() {
			listed[t.Name] = true
		}
	}
	return listed, err
}

// sweep removes a file that no manifest lists, if it is to be removed.
func (o *SweepOptions) sweep(ctx context.Context, s Store, f File) (err error) {
	match := o.Match
	if match == nil {
		match = swept.MatchString
	}
	if !match(f.Name) && !leases.MatchString(f.Name) {
		return nil
	}
	if !o.Before.IsZero() {
		if f, err = withTime(ctx, s, f); err != nil || f.Modified.IsZero() || f.Modified.After(o.Before) {
			return err
		}
	}
	if o.Found != nil {
		return o.Found(f)
	}
	if err := s.Remove(ctx, f.Name); err != nil {
		return fmt.Errorf("set: remove a file of an earlier build: %w", err)
	}
	return nil
}

// withTime returns f with the time of its last change, as far as the Store knows it.
func withTime(ctx context.Context, s Store, f File) (File, error) {
	if !f.Modified.IsZero() {
		return f, nil
	}
	return s.Stat(ctx, f.Name)
}
