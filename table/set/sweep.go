package set

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"sync"
	"time"
)

// SweepOptions are options of [Sweep]. The zero value of each field is its default.
type SweepOptions struct {
	// If Before is not zero, files that changed after it stay, and so do those whose time of
	// modification is not known.
	Before time.Time

	// Match reports whether a file may be removed if no manifest lists it. If Match is nil, files
	// are removed whose names are those that a Builder gives to tables and temporary files. Match is
	// called once for each file that no manifest lists, in the order of the names.
	Match func(name string) bool

	// Manifests are the names of manifests in the Store whose tables stay, beside those of
	// [ManifestName]. If one is missing, Sweep fails. ManifestName itself may be missing if it is
	// not among them.
	Manifests []string

	// If Keep is not nil, it returns further manifests whose tables stay, such as those that
	// services still read. It is called while the Store is locked. Without a lock, it is called
	// often. A nil Manifest lists nothing.
	Keep func(ctx context.Context) ([]*Manifest, error)

	// DryRun removes nothing.
	DryRun bool

	// If Found is not nil, it is called for each file that was removed or, with DryRun, would be,
	// and before that for those that stay only because of Before: then young is true. Both come in
	// the order of the names. A file's size and time can be unknown, as in the list of the Store. An
	// error ends Sweep.
	Found func(f File, young bool) error
}

// swept matches the names that Builders give to tables and temporary files.
var swept = regexp.MustCompile(`^([0-9]{6,}-([0-9a-f]{16}|[0-9a-f]{64})(-[0-9]+)?\.(ldb|filter)|sievetable-.*\.tmp)$`)

// Sweep removes what builds have left in the Store: tables that neither its manifests nor those of
// Keep list, temporary files of builds that were killed, and leases that have ended. If o is nil,
// files stay that changed within 24 hours.
//
// A build whose tables have names already holds the lock, and Sweep waits for it. If it has a lease
// instead, Sweep removes nothing and returns [ErrBuilding]. Tables of a build that has not come to
// Commit are temporary files: Before must be longer ago than a build takes. A manifest that cannot be
// read is an error, since it may list any file.
//
// Without a lock, Sweep looks twice: right before it removes some files, it reads the manifests again,
// and what is listed by then or has changed since stays. In the end it reads them once more. If one
// lists a file that was removed, the error is [ErrGone]. If the Store is no [Replacer] either, start no
// build while Sweep runs.
func Sweep(ctx context.Context, s Store, o *SweepOptions) error {
	if o == nil {
		o = &SweepOptions{Before: time.Now().Add(-24 * time.Hour)}
	}
	w := sweeper{SweepOptions: *o, s: s, locked: true}
	if w.Match == nil {
		w.Match = swept.MatchString
	}
	if w.Found == nil {
		w.Found = func(File, bool) error { return nil }
	}
	if !o.DryRun {
		unlock, locked, err := lock(ctx, s)
		if err != nil {
			return err
		}
		defer unlock()
		w.locked = locked
	}
	left, err := w.find(ctx)
	if err != nil {
		return err
	}
	if !o.DryRun {
		return w.removeAll(ctx, left)
	}
	for _, f := range left {
		err = errors.Join(err, w.Found(f, false))
	}
	return err
}

// A sweeper is a Sweep that runs.
type sweeper struct {
	SweepOptions
	s       Store
	locked  bool            // nobody else changes the Store, or nothing is removed
	listed  map[string]bool // the names of all files that stay
	removed []File
}

// find returns the files that are to be removed, in the order of the names.
func (w *sweeper) find(ctx context.Context) (left []File, err error) {
	files, err := w.s.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("set: list the files of earlier builds: %w", err)
	}
	for _, f := range files {
		if leases.MatchString(f.Name) {
			if err := checkLease(ctx, w.s, f); err != nil {
				return nil, err
			}
		}
	}
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range files {
		if w.listed[f.Name] || !w.Match(f.Name) && !leases.MatchString(f.Name) {
			continue
		}
		young, err := w.isYoung(ctx, &f)
		if err == nil && young {
			err = w.Found(f, true)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if !young {
			left = append(left, f)
		}
	}
	return left, nil
}

// look reads the manifests.
func (w *sweeper) look(ctx context.Context) (err error) {
	var all []*Manifest
	if w.Keep != nil {
		if all, err = w.Keep(ctx); err != nil {
			return err
		}
	}
	names, isNeeded := w.Manifests, slices.Contains(w.Manifests, ManifestName)
	if !isNeeded {
		names = append(slices.Clip(names), ManifestName)
	}
	listed := map[string]bool{}
	for _, name := range names {
		m, err := readStored(ctx, w.s, name)
		if err != nil {
			return err
		}
		if m.Manifest == nil && (isNeeded || name != ManifestName) {
			return fmt.Errorf("set: %s: no such manifest: without it, all of its tables would be deleted: %w",
				w.s.Path(name), fs.ErrNotExist)
		}
		listed[name] = true
		all = append(slices.Clip(all), m.Manifest)
	}
	w.listed = listed
	for _, m := range all {
		if m == nil {
			continue
		}
		for t := range m.All() {
			listed[t.Name] = true
		}
	}
	return nil
}

// isYoung reports whether a file stays because of its age, and finds out the time of its last change.
func (w *sweeper) isYoung(ctx context.Context, f *File) (_ bool, err error) {
	if w.Before.IsZero() {
		return false, nil
	}
	*f, err = withTime(ctx, w.s, *f)
	return f.Modified.IsZero() || f.Modified.After(w.Before), err
}

// atATime is how many files are removed at a time.
const atATime = 8

// removeAll removes files, some at a time.
func (w *sweeper) removeAll(ctx context.Context, left []File) (err error) {
	for some := range slices.Chunk(left, atATime) {
		if !w.locked {
			if err := w.look(ctx); err != nil {
				return err // so that checkRemoved would not know what is listed either
			}
		}
		if err = w.removeSome(ctx, some); err != nil {
			break
		}
	}
	return errors.Join(err, w.checkRemoved(ctx))
}

// removeSome removes files, all at a time. It returns one of the errors.
func (w *sweeper) removeSome(ctx context.Context, some []File) (failed error) {
	done, errs := make([]bool, len(some)), make([]error, len(some))
	var all sync.WaitGroup
	for i, f := range some {
		all.Go(func() { done[i], errs[i] = w.remove(ctx, f) })
	}
	all.Wait()
	for i, f := range some {
		if done[i] {
			w.removed = append(w.removed, f)
			errs[i] = w.Found(f, false)
		}
		if failed == nil {
			failed = errs[i]
		}
	}
	return failed
}

// remove removes a file, unless it is listed, gone or young by now.
func (w *sweeper) remove(ctx context.Context, f File) (removed bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if !w.locked {
		f.Modified = time.Time{} // ask again
		var young bool
		young, err = w.isYoung(ctx, &f)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (young || w.listed[f.Name]) {
			return false, nil
		}
	}
	if err == nil {
		err = w.s.Remove(ctx, f.Name)
	}
	if err != nil {
		return false, fmt.Errorf("set: remove %s: %w", w.s.Path(f.Name), err)
	}
	return true, nil
}

// checkRemoved returns an error if a manifest that was written meanwhile lists a file that was removed.
func (w *sweeper) checkRemoved(ctx context.Context) error {
	if w.locked || len(w.removed) == 0 {
		return nil
	}
	if err := w.look(ctx); err != nil {
		return err
	}
	for _, f := range w.removed {
		if w.listed[f.Name] {
			return fmt.Errorf("set: table %s, which a new manifest lists: %w", w.s.Path(f.Name), ErrGone)
		}
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
