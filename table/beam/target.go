package setio

import "context"

// A target is where a build writes, and what.
type target struct {
	Dir    string
	Lease  string
	Writer string // as in Options
	Layer  bool   // as in Options

	// Removals is whether the layer can have removals.
	Removals bool
}

// prepare makes the directory, and begins the lease. It finds out early whether the manifest that is
// there can be replaced.
func (t *target) prepare(ctx context.Context) error {
	return withStore(ctx, t.Dir, func(st store) error {
		if err := st.prepare(); err != nil {
			return err
		}
		m, err := readManifest(ctx, st)
		if err == nil && t.Layer {
			err = t.checkBase(st, m)
		}
		if err != nil {
			return err
		}
		return writeLease(ctx, st, t.Lease)
	})
}
