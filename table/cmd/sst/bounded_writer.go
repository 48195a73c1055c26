package main

import (
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
)

// boundedWriter is a Writer whose index is held to --memory. The index is in memory until
// the table is finished, and has a separator for each data block, up to as long as a key.
type boundedWriter struct {
	*table.Writer
	limit  memory.Limit
	blocks int
	index  int64 // bytes that the index may have
}

// indexEntryOverhead is about what an entry of the index has beside its separator.
const indexEntryOverhead = 16

func (w *boundedWriter) Append(key, value []byte) error {
	if err := w.Writer.Append(key, value); err != nil {
		return err
	}
	if n := w.DataBlocks(); n > w.blocks {
		w.blocks = n
		w.index += int64(len(key)) + indexEntryOverhead
		return w.limit.CheckIndex(w.index)
	}
	return nil
}

func (w *boundedWriter) appendRecord(r sorting.Record) error {
	value, err := r.Value()
	if err != nil {
		return err
	}
	return w.Append(r.Key, value)
}
