package setio

import (
	"context"

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
func (fn *split) ProcessElement(ctx context.Context, _ []byte, samples func(*[]byte) bool, emit func([]byte)) error {
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
	perTable := min(samplesPerTable, fn.EntriesPerTable) // all keys are sampled if there are fewer
	tables := (s.Len() + perTable - 1) / perTable
	first := [][]byte{{}} // the smallest key: the number of a table is that of the splits up to its keys
	splits, err := joinKeys(append(first, s.Splits(tables)...))
	if err != nil {
		return err
	}
	emit(splits)
	return nil
}
