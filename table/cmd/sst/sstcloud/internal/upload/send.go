package upload

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/set"
)

// tries is the number of times that Send uploads missing tables, if a sweep keeps deleting some.
const tries = 3

// Send uploads the Missing tables, atATime at once, and then the manifest. Right before the manifest, it checks the
// store again and uploads tables that were deleted meanwhile. sent is called for each uploaded table, from any
// goroutine.
//
// After an error other than [set.ErrGone], the store's manifest is unchanged, unless the error says that it may have
// been written. A manifest that has changed since Plan is not replaced.
func (u *Upload) Send(ctx context.Context, atATime int, sent func(set.Table)) error {
	if u.Same && len(u.Missing) == 0 {
		return nil
	}
	for range tries {
		if err := u.sendMissing(ctx, atATime, sent); err != nil {
			return err
		}
		err := u.look(ctx)
		if err == nil && len(u.Missing) == 0 {
			if err = u.publish(ctx); !errors.Is(err, set.ErrMissing) {
				return err
			}
			err = u.look(ctx)
		}
		if err != nil {
			return err
		}
	}
	// A different table may have been deleted each time, and by now all may be stored.
	return fmt.Errorf("%s: tables were deleted during the upload, %d times: stop the sweep, or run it with a longer --age",
		u.to.Path(u.name), tries)
}

// publish writes the manifest.
func (u *Upload) publish(ctx context.Context) error {
	err := set.PublishManifest(ctx, u.to, u.name, u.Manifest, func(now *set.Manifest) error {
		if !reflect.DeepEqual(now, u.old) {
			return set.ErrChanged
		}
		return nil
	})
	if errors.Is(err, set.ErrChanged) {
		return fmt.Errorf("%s: another program has replaced this manifest meanwhile: to replace it too, run put again",
			u.to.Path(u.name))
	}
	return err
}

func (u *Upload) sendMissing(ctx context.Context, atATime int, sent func(set.Table)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for _, t := range u.Missing {
		u.Sent[t.Name] = true
		g.Go(func() error {
			err := u.sendTable(ctx, t)
			if err == nil {
				sent(t)
			}
			return err
		})
	}
	return g.Wait()
}

func (u *Upload) sendTable(ctx context.Context, t set.Table) error {
	file := u.files[t.Name]
	f, err := u.from.Open(ctx, file)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	err = set.PutTable(ctx, u.to, t, f)
	if errors.Is(err, set.ErrMismatch) {
		err = dbfile.Corruption(err.Error())
	}
	if err != nil {
		err = fmt.Errorf("upload table %q: %w", u.from.Path(file), err)
	}
	return err
}
