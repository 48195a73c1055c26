package command

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// progressEvery is after how many entries a loop shows its progress.
const progressEvery = 1 << 12

// appendSorted appends the pairs in the order of the input.
func (r *inputReader) appendSorted(w appender, pairs iter.Seq2[input.Pair, error]) error {
	for pair, err := range pairs {
		if err == nil {
			err = w.Append(pair.Key, pair.Value)
		}
		if errors.Is(err, table.ErrOrder) {
			return fmt.Errorf("%v: %s: sort the input bytewise, as by LC_ALL=C sort, or leave out --sorted", r.place, strings.TrimPrefix(err.Error(), "table: "))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// appendDeduplicated appends the sorted records, at most one of each key.
func (f *buildFlags) appendDeduplicated(w appender, records iter.Seq2[sorting.Record, error], read *inputReader) error {
	var before sorting.Record
	dropped := 0
	var writing *progress.Bar
	defer func() { writing.Done() }()
	for r, err := range records {
		if err != nil {
			return err
		}
		if writing == nil {
			writing = progress.Count(read.stderr, int64(read.n), "writing", "pairs")
		}
		if r.Number%progressEvery == 0 {
			writing.Add(progressEvery)
		}
		if before.NextSameKey && f.onDuplicate == "error" {
			return fmt.Errorf("key %s appears twice, as pairs %d and %d of the input: to keep one of them, use --on-duplicate first or last", wire.Quote(r.Key), before.Number+1, r.Number+1)
		}
		drop := before.NextSameKey
		if f.onDuplicate == "last" {
			drop = r.NextSameKey
		}
		if before = r; drop {
			dropped++
			continue
		}
		if err := appendRecord(w, r); err != nil {
			return err
		}
	}
	if dropped > 0 {
		text.Line(read.stderr, "sst: note: skipped %s with a repeated key", text.Count(uint64(dropped), "pair"))
	}
	return nil
}
