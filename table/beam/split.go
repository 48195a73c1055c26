package setio

import (
	"context"

	"github.com/sievetable/sievetable/table/set"
)

// samplesPerTable is the mean number of sampled keys per table. The tables' sizes then have a standard deviation of
// 1/√1024, or 3 %. A sampled key of 64 bytes takes 210 bytes of the worker's memory: with the default of 1,000,000
// keys per table, 2 to 4 GB for 10¹⁰ keys.
const samplesPerTable = 1024

// sampleRate returns the fraction of keys to sample.
func sampleRate(entriesPerTable int) float64 {
	return min(1, samplesPerTable/float64(entriesPerTable))
}

// split prepares the directory and computes the splits.
type split struct {
	Target          target
	EntriesPerTable int
}

// ProcessElement emits a piece that contains the splits. samples are pieces of sampled keys.
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
	first := [][]byte{{}} // the smallest key: a table's number is the number of splits up to its keys
	w := &pieceWriter{emit: emit, whole: true}
	return w.writeKeys(append(first, s.Splits(tables)...))
}
