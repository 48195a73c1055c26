package main

import (
	"bytes"
	"io"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A boundedWriter is a Writer that limits the size of the index to a share of --memory. The
// Writer keeps the index in memory until the table is finished. It has a separator per data
// block, which can be as long as a key.
type boundedWriter struct {
	*table.Writer
	limit memory.Limit

	filterOnly bool   // values are left out
	leftOut    int    // number of values
	unique     bool   // a key that equals the one before is left out
	last       []byte // that key, if unique
	repeated   int    // number of keys that were left out
	blocks     int
	index      int64 // upper bound of the size of the index
}

// indexEntryOverhead is the approximate size of an index entry without its separator.
const indexEntryOverhead = 16

func (w *boundedWriter) Append(key, value []byte) error {
	if w.unique {
		if w.Entries() > 0 && bytes.Equal(key, w.last) {
			w.repeated++
			return nil
		}
		w.last = append(w.last[:0], key...)
	}
	if w.filterOnly && len(value) > 0 {
		w.leftOut++
		value = nil
	}
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

// noteLeftOut prints what was left out.
func (w *boundedWriter) noteLeftOut(stderr io.Writer) {
	if w.repeated > 0 {
		text.Line(stderr, "sst: note: skipped %s", text.Count(uint64(w.repeated), "repeated key"))
	}
	if w.leftOut > 0 {
		text.Line(stderr, "sst: note: left out %s, because --filter-only keeps keys only", text.Count(uint64(w.leftOut), "value"))
	}
}
