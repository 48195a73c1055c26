package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/merge"
)

// An appender takes pairs in the order of their keys.
type appender interface {
	Append(key, value []byte) error
}

// appendRecord appends a sorted pair.
func appendRecord(w appender, r *merge.Sorted) error {
	value, err := r.Value()
	if err != nil {
		return err
	}
	return w.Append(r.Key, value)
}

// A blockCounter is a table.Writer or a set.TableWriter.
type blockCounter interface {
	appender
	DataBlocks() int
}

// A boundedWriter is a Writer that limits the size of the index to a share of --memory. The
// Writer keeps the index in memory until the table is finished. It has a separator per data
// block, which can be as long as a key.
type boundedWriter struct {
	blockCounter
	limit  memory.Limit
	never  string // the path of --never; "": it is not given
	blocks int
	index  int64 // upper bound of the size of the index
}

// indexEntryOverhead is the approximate size of an index entry without its separator.
const indexEntryOverhead = 16

func (w *boundedWriter) Append(key, value []byte) error {
	if err := memory.CheckWrite(key, value); err != nil {
		return err
	}
	if err := w.blockCounter.Append(key, value); w.never != "" && errors.Is(err, table.ErrNever) {
		return fmt.Errorf("key %s is in the input, and in --never %s: remove it from one of them", wire.Quote(key), text.ShellPath(w.never))
	} else if err != nil {
		return err
	}
	if n := w.DataBlocks(); n > w.blocks {
		w.blocks = n
		w.index += int64(len(key)) + indexEntryOverhead
		return w.limit.CheckIndex(w.index)
	}
	return nil
}

// A pairFilter passes pairs on, and leaves out what a table with a filter only does not have.
type pairFilter struct {
	appender
	filterOnly bool   // values are left out
	leftOut    int    // number of values
	unique     bool   // a key that equals the one before is left out
	last       []byte // that key, if unique; nil: none
	repeated   int    // number of keys that were left out
}

func (w *pairFilter) Append(key, value []byte) error {
	if w.unique {
		if w.last != nil && bytes.Equal(key, w.last) {
			w.repeated++
			return nil
		}
		w.last = wire.AppendNotNil(w.last[:0], key)
	}
	if w.filterOnly && len(value) > 0 {
		w.leftOut++
		value = nil
	}
	return w.appender.Append(key, value)
}

// noteLeftOut prints what was left out.
func (w *pairFilter) noteLeftOut(stderr io.Writer) {
	if w.repeated > 0 {
		text.Note(stderr, "skipped %s", text.Count(uint64(w.repeated), "repeated key"))
	}
	if w.leftOut > 0 {
		text.Note(stderr, "left out %s, because --filter-only keeps keys only", text.Count(uint64(w.leftOut), "value"))
	}
}
