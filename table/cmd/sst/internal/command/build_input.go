package command

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/merge"
)

// progressEvery is after how many entries a loop shows its progress.
const progressEvery = 1 << 12

// appendSorted appends the pairs in the order of the input.
func appendSorted(r *input.Reader, w appender, pairs iter.Seq2[input.Pair, error]) error {
	for pair, err := range pairs {
		if err == nil {
			err = w.Append(pair.Key, pair.Value)
		}
		if errors.Is(err, table.ErrOrder) {
			return fmt.Errorf("%s: %s: sort the input bytewise, as by LC_ALL=C sort, or leave out --sorted", r.Place(), strings.TrimPrefix(err.Error(), "table: "))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drops reports whether a record is left out, which comes after another one.
func (f *buildFlags) drops(before, r merge.Sorted) bool {
	switch f.onDuplicate {
	case "count":
		return false // a keyCounter wants them all
	case "last":
		return r.NextSameKey
	}
	return before.NextSameKey
}

// showWriting shows how many of the records are written. It starts at the first record, when
// their number is known.
func showWriting(r *input.Reader, records iter.Seq2[*merge.Sorted, error]) iter.Seq2[*merge.Sorted, error] {
	return func(yield func(*merge.Sorted, error) bool) {
		bar := sync.OnceValue(func() *progress.Bar { return progress.Count(r.Stderr, int64(r.N), "writing", "pairs") })
		defer func() { bar().Done() }()
		for record, err := range records {
			if err == nil && record.Number%progressEvery == 0 {
				bar().Add(progressEvery)
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// appendDeduplicated appends the sorted records that are not left out, such as at most one of each key.
func (f *buildFlags) appendDeduplicated(w appender, records iter.Seq2[*merge.Sorted, error], read *input.Reader) error {
	var before merge.Sorted
	dropped := 0
	for r, err := range showWriting(read, records) {
		if err != nil {
			return err
		}
		if before.NextSameKey && f.onDuplicate == "error" {
			return fmt.Errorf("key %s appears twice, as pairs %d and %d of the input: to keep one of them, use --on-duplicate first or last; to store how often each key occurs, --on-duplicate count", wire.Quote(r.Key), before.Number+1, r.Number+1)
		}
		drop := f.drops(before, *r)
		if before = *r; drop {
			dropped++
			continue
		}
		if err := appendRecord(w, r); err != nil {
			return err
		}
	}
	if dropped > 0 {
		text.Note(read.Stderr, "skipped %s with a repeated key", text.Count(uint64(dropped), "pair"))
	}
	return nil
}
