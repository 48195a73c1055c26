package set

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// SweepOptions are options of [Sweep].
type SweepOptions struct {
	DryRun bool      // remove nothing
	Before time.Time // files that changed later, or at an unknown time, stay; zero means 24 hours ago
	AnyAge bool      // ignore Before: files of any age are removed, also of an unknown one

	// Match is called for each file, and reports whether it may be removed if it is unlisted. If nil, tables and
	// temporary files with a Builder's names may be.
	Match func(name string) bool

	// Manifests are further manifests in the Store whose tables stay. A missing one is an error. To require
	// [ManifestName], add it.
	Manifests []string

	// If Keep is not nil, it returns further manifests whose tables stay, such as manifests that services still use. It
	// may be called several times. A nil Manifest lists nothing.
	Keep func(ctx context.Context) ([]*Manifest, error)

	// If Found is not nil, it is called in order of names for each file that stays only because of Before, with young
	// set, and then for each removed file (with DryRun, each that would be). An error ends Sweep.
	Found func(f File, young bool) error
}

// swept matches the names that Builders give to tables and temporary files.
var swept = regexp.MustCompile(`^([0-9]{6,}-([0-9a-f]{16}|[0-9a-f]{64})(-[0-9]+)?\.(ldb|filter)|sievetable-.*\.tmp)$`)

// Sweep removes what builds have left in the Store: tables that no manifest lists, temporary files of killed builds,
// and expired leases. If o is nil, the defaults are used. A manifest that cannot be read is an error. Until Commit,
// the tables of a build are temporary files, so o.Before must be longer ago than a build takes.
//
// Sweep waits for the lock of a build. If a build has a lease instead, Sweep returns [ErrBuilding]. If the Store is
// not a [Locker], Sweep reads the manifests again when it removes files. If one then lists a removed file, the error
// is [ErrGone]. If the Store is neither a Locker nor a [Replacer], run no build meanwhile.
func Sweep(ctx context.Context, s Store, o *SweepOptions) error {
	if err := checkStore(s); err != nil {
		return err
	}
	o = cmp.Or(o, &SweepOptions{})
	w := sweeper{SweepOptions: *o, s: s, locked: true}
	if w.Before.IsZero() {
		w.Before = time.Now().Add(-24 * time.Hour)
	}
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
	for i := 0; i < len(left) && err == nil; i++ {
		err = w.Found(left[i], false)
	}
	return err
}

// A sweeper is a running Sweep.
type sweeper struct {
	SweepOptions
	s      Store
	locked bool    // nobody else changes the Store, or nothing is removed
	listed nameSet // of all files that stay
}

// A nameSet contains names in lower case: if a file system ignores case, a manifest may spell a name differently
// from the directory.
type nameSet map[string]bool

func (s nameSet) add(name string)      { s[strings.ToLower(name)] = true }
func (s nameSet) has(name string) bool { return s[strings.ToLower(name)] }

// addTables adds the names of a manifest's tables.
func (s nameSet) addTables(m *Manifest) {
	for t := range m.All() {
		s.add(t.Name)
	}
}

// find returns the files to remove, in order of names.
func (w *sweeper) find(ctx context.Context) (left []File, err error) {
	files, err := w.s.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("set: list the files: %w", err)
	}
	for _, f := range files {
		if leases.MatchString(f.Name) {
			if err := checkLease(ctx, w.s, f); err != nil {
				return nil, err
			}
		}
	}
	if err := w.readManifests(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range files {
		if !w.Match(f.Name) && !leases.MatchString(f.Name) || w.listed.has(f.Name) {
			continue
		}
		young, err := w.isYoung(ctx, &f)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile, as by another Sweep
		}
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

// readManifests sets listed from the manifests.
func (w *sweeper) readManifests(ctx context.Context) error {
	listed := nameSet{}
	listed.add(lockName) // without it, a build could lock the Store too
	if w.Keep != nil {
		kept, err := w.Keep(ctx)
		if err != nil {
			return err
		}
		for _, m := range kept {
			listed.addTables(m)
		}
	}
	names := w.Manifests
	if !slices.Contains(names, ManifestName) {
		names = append(slices.Clip(names), ManifestName)
	}
	for _, name := range names {
		m, err := readStored(ctx, w.s, name)
		if err != nil {
			return err
		}
		if m.Manifest == nil && slices.Contains(w.Manifests, name) {
			return fmt.Errorf("set: manifest %s is missing, so its tables would be removed: %w",
				w.s.Path(name), fs.ErrNotExist)
		}
		listed.add(name)
		listed.addTables(m.Manifest)
	}
	w.listed = listed
	return nil
}

// isYoung reports whether a file stays because of its age, and sets Modified.
func (w *sweeper) isYoung(ctx context.Context, f *File) (_ bool, err error) {
	if w.AnyAge {
		return false, nil
	}
	*f, err = withTime(ctx, w.s, *f)
	return f.Modified.IsZero() || f.Modified.After(w.Before), err
}

// sweepConcurrency is the number of files removed at a time.
const sweepConcurrency = 8

// removeAll removes files, some at a time.
func (w *sweeper) removeAll(ctx context.Context, left []File) (err error) {
	var tried []File
	for some := range slices.Chunk(left, sweepConcurrency) {
		if !w.locked {
			err = w.readManifests(ctx)
		}
		if err == nil {
			tried, err = append(tried, some...), w.removeSome(ctx, some)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, w.checkTried(ctx, tried))
}

// removeSome removes files concurrently. It returns the first error.
func (w *sweeper) removeSome(ctx context.Context, some []File) (failed error) {
	done, errs := make([]bool, len(some)), make([]error, len(some))
	var all sync.WaitGroup
	for i, f := range some {
		all.Go(func() { done[i], errs[i] = w.remove(ctx, f) })
	}
	all.Wait()
	for i, f := range some {
		if done[i] {
			errs[i] = w.Found(f, false)
		}
		failed = cmp.Or(failed, errs[i])
	}
	return failed
}

// remove removes a file, unless it is listed, gone or young by now.
func (w *sweeper) remove(ctx context.Context, f File) (removed bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if !w.locked {
		f.Modified = time.Time{} // get it again
		young, err := w.isYoung(ctx, &f)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && (young || w.listed.has(f.Name)):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	if err := w.s.Remove(ctx, f.Name); err != nil {
		return false, fmt.Errorf("set: remove %s: %w", w.s.Path(f.Name), err)
	}
	return true, nil
}

// checkTried returns an error if a manifest that was written meanwhile lists a file that is gone. That may be one
// whose removal has failed: the Store can remove a file and lose its response.
func (w *sweeper) checkTried(ctx context.Context, tried []File) error {
	if w.locked || len(tried) == 0 {
		return nil
	}
	check, cancel := outlasting(ctx)
	defer cancel()
	if err := w.readManifests(check); err != nil {
		return fmt.Errorf("set: look for removed files in new manifests: %w", err)
	}
	for _, f := range tried {
		if !w.listed.has(f.Name) {
			continue
		}
		switch _, err := w.s.Stat(check, f.Name); {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("set: table %s, listed in a new manifest: %w", w.s.Path(f.Name), ErrGone)
		case err != nil:
			return fmt.Errorf("set: table %s, listed in a new manifest, may have been removed: %w", w.s.Path(f.Name), err)
		}
	}
	return nil
}

// withTime returns f with the time of its last change, if the Store knows it.
func withTime(ctx context.Context, s Store, f File) (File, error) {
	if !f.Modified.IsZero() {
		return f, nil
	}
	now, err := s.Stat(ctx, f.Name)
	if err != nil {
		return f, fmt.Errorf("set: find the time of %s: %w", s.Path(f.Name), err)
	}
	return now, nil
}
