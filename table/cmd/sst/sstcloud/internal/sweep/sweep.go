// Package sweep finds and deletes the objects of earlier sets: tables that no manifest lists, and what
// writes to a directory left that were killed.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/set"
)

// A Sweep is what can be deleted from a store.
type Sweep struct {
	Objects []store.Object // that can be deleted, by name

	// Others are objects whose names are those of manifests, and that are none of those that were given.
	Others []string

	s         *store.Store
	manifests *manifests
	age       time.Duration
}

// tableName matches the names that sstcloud and package cloud give to tables.
var tableName = regexp.MustCompile(`^[0-9a-f]{64}(-[1-9][0-9]*)?\.(ldb|filter)$`)

// temporary matches what the driver of a directory adds to the name of an object while it is written.
var temporary = regexp.MustCompile(`\.[0-9a-f]{15,16}\.tmp$`)

// Plan finds the objects that no manifest lists, and that are older than age. The manifests are
// set.ManifestName, which may be missing if there are others, and those of the other keys.
func Plan(ctx context.Context, s *store.Store, others []string, age time.Duration) (*Sweep, error) {
	objects, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	keys := append([]string{set.ManifestName}, others...)
	_, ok := objects[set.ManifestName] // a list knows missing objects from those that may not be read
	w := &Sweep{s: s, manifests: &manifests{s: s, keys: keys, mayLack: !ok && len(others) > 0}, age: age}
	if err := w.manifests.read(ctx); err != nil {
		return nil, err
	}
	for _, o := range objects {
		switch {
		case w.isLeft(o):
			w.Objects = append(w.Objects, o)
		case strings.HasSuffix(o.Key, ".jsonl") && !slices.Contains(keys, o.Key):
			w.Others = append(w.Others, o.Key)
		}
	}
	slices.SortFunc(w.Objects, func(a, b store.Object) int { return strings.Compare(a.Key, b.Key) })
	slices.Sort(w.Others)
	return w, nil
}

// isLeft reports whether an object is of an earlier set, and old enough.
func (w *Sweep) isLeft(o store.Object) bool {
	if w.manifests.listed[o.Key] || time.Since(o.Modified) < w.age {
		return false
	}
	if suffix := temporary.FindString(o.Key); suffix != "" && w.s.IsDir() {
		name := strings.TrimSuffix(o.Key, suffix)
		return tableName.MatchString(name) || slices.Contains(w.manifests.keys, name)
	}
	return tableName.MatchString(o.Key)
}

// Delete deletes the Objects, some at a time. Right before, it reads the manifests again if they have
// changed, and asks for the time of each object: one that is listed now, or that was sent again, stays.
// A directory is locked meanwhile. deleted is called for each object that is deleted. After an error too,
// Delete looks whether a manifest lists one of them.
func (w *Sweep) Delete(ctx context.Context, concurrency int, deleted func(store.Object)) error {
	var gone []store.Object
	for some := range slices.Chunk(w.Objects, concurrency) {
		unlock, err := w.s.Lock(ctx)
		if err != nil {
			return errors.Join(err, w.checkGone(ctx, gone))
		}
		if err := w.manifests.update(ctx); err != nil {
			unlock()
			return err // so checkGone cannot know what they list either
		}
		n, err := w.deleteSome(ctx, some)
		unlock()
		for _, o := range n {
			deleted(o)
		}
		gone = append(gone, n...)
		if err != nil {
			return errors.Join(err, w.checkGone(ctx, gone))
		}
	}
	return w.checkGone(ctx, gone)
}

// deleteSome deletes objects, all at a time. It returns those that are deleted.
func (w *Sweep) deleteSome(ctx context.Context, some []store.Object) (gone []store.Object, err error) {
	done := make([]bool, len(some))
	g, ctx := errgroup.WithContext(ctx)
	for i, o := range some {
		g.Go(func() (err error) {
			done[i], err = w.deleteOne(ctx, o)
			return err
		})
	}
	err = g.Wait()
	for i, o := range some {
		if done[i] {
			gone = append(gone, o)
		}
	}
	return gone, err
}

// deleteOne deletes an object, unless it is gone or has become another one.
func (w *Sweep) deleteOne(ctx context.Context, o store.Object) (bool, error) {
	now, err := w.s.Attributes(ctx, o.Key)
	if err == nil {
		o.Modified = now.ModTime
		if !w.isLeft(o) {
			return false, nil
		}
		err = w.s.Delete(ctx, o.Key)
	}
	if gcerrors.Code(err) == gcerrors.NotFound {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: delete: %w", w.s.Name(o.Key), err)
	}
	return true, nil
}

// checkGone returns an error if a manifest that was written meanwhile lists a table that is deleted.
func (w *Sweep) checkGone(ctx context.Context, gone []store.Object) error {
	if err := w.manifests.update(ctx); err != nil {
		return err
	}
	for _, o := range gone {
		if w.manifests.listed[o.Key] {
			return &ListedError{w.s.Name(o.Key)}
		}
	}
	return nil
}
