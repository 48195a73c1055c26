package setio

import (
	"context"
	"errors"

	"github.com/sievetable/sievetable/table/set"
)

// samplesPerTable is how many sampled keys a table has. The numbers of keys of the tables then
// have a standard deviation of 1/√1024, which is 3 %.
const samplesPerTable = 1024

// sampleRate returns the share of the keys that is sampled.
func sampleRate(entriesPerTable int) float64 {
	return min(1, samplesPerTable/float64(entriesPerTable))
}

// split prepares the directory, and finds the splits.
type split struct {
	Target          target
	EntriesPerTable int
}

// ProcessElement emits a piece of the splits. Samples are pieces of sampled keys.
func (fn *split) ProcessElement(
	ctx context.Context, _ []byte, samples func(*[]byte) bool, emit func([]byte),
) error {
	if err := fn.Target.prepare(ctx); err != nil {
		return err
	}
	s, err := set.NewSampler(sampleRate(fn.EntriesPerTable))
	if err != nil {
		return err
	}
	for p := piece(nil); samples(&p); {
		if err := eachEntry([]piece{p}, func(key, _ []byte) error { s.Add(key); return nil }); err != nil {
			return err
		}
	}
	splits, err := encodeKeys(s.Splits(fn.tables(s.Len())))
	if err != nil {
		return err
	}
	emit(splits)
	return nil
}

// tables returns how many tables there will be, if that many keys are sampled.
func (fn *split) tables(sampled int) int {
	perTable := min(samplesPerTable, fn.EntriesPerTable) // all keys are sampled if there are fewer
	return (sampled + perTable - 1) / perTable
}

// A target is where a build writes, and what.
type target struct {
	Dir    string
	Lease  string
	Writer string // as in Options
	Layer  bool   // as in Options

	// Removals is whether the layer can have removals.
	Removals bool
}

// with calls f with the directory.
func (t *target) with(ctx context.Context, f func(store) error) (err error) {
	st, err := openStore(ctx, t.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return f(st)
}

// prepare makes the directory, and begins the lease. It finds out early whether the manifest that is
// there can be replaced.
func (t *target) prepare(ctx context.Context) error {
	return t.with(ctx, func(st store) error {
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
