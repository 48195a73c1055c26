package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// explain tells the way of each key's lookup.
func explain(out io.Writer, s *source.Source, keys [][]byte) error {
	var absent error
	for _, key := range keys {
		text.Line(out, "key %s", wire.Quote(key))
		e, found, paths, err := s.Explain(key)
		if err != nil {
			return err
		}
		if e.Log != "" {
			text.Line(out, "%s has a write of it, in the batch at %d", filepath.Base(e.Log), e.Offset)
		}
		explainPaths(out, s, paths)
		switch {
		case found:
			text.Line(out, "found: %s", describe(e))
		case e.Internal:
			text.Line(out, "absent: deleted by sequence %d", e.Sequence)
			absent = errNo
		default:
			text.Line(out, "absent")
			absent = errNo
		}
	}
	return absent
}

// describe says what an entry has, and not all of a long value.
func describe(e source.Entry) string {
	value, more := e.Value, ""
	if len(value) > 60 {
		value, more = value[:60], "…"
	}
	d := fmt.Sprintf("%s, %s%s", bytesOf(uint64(len(e.Value))), text.Escape(value), more)
	if e.Internal {
		d = fmt.Sprintf("sequence %d, %s, %s", e.Sequence, text.KindName(e.Kind), d)
	}
	return d
}

// explainPaths tells the way in each table that was asked, and what they come to.
func explainPaths(out io.Writer, s *source.Source, paths []source.Path) {
	var ruledOut, read, size uint64
	var spent time.Duration
	for _, p := range paths {
		read, size, spent = read+p.Read, size+p.Bytes, spent+p.Time
		if p.Whole == source.Absent || p.Blocks == source.Absent {
			ruledOut++
		}
		explainPath(out, p)
	}
	if s.Dir {
		text.Line(out, "together: %d of %s asked, of which filters ruled out %d; %s read (%s), %s",
			len(paths), count(uint64(len(s.Tables)), "table"), ruledOut, count(read, "data block"), bytesOf(size), spent)
	}
}

func explainPath(out io.Writer, p source.Path) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	data, filters := len(p.File.Layout.Data), p.File.Filters()
	text.Line(out, "%s (%s, %s)", filepath.Base(p.File.Path), bytesOf(uint64(p.File.Size)), count(uint64(data), "data block"))
	if filters.Table != nil {
		text.Row(w, "  table filter", "%s, %s: %s", text.Escape([]byte(strings.TrimPrefix(filters.TableEntry.Name, format.TableFilterPrefix))), bytesOf(filters.TableEntry.Length), p.Whole)
	}
	if p.Whole != source.Absent {
		explainBlock(w, p, filters)
	}
	text.Row(w, "  read", "%s, %s, in %s", count(p.Read, "data block"), bytesOf(p.Bytes), p.Time)
	text.Row(w, "  answer", "%s", outcome(p))
	w.Flush()
}

// explainBlock tells what the index and the data block's filter say.
func explainBlock(w io.Writer, p source.Path, filters source.Filters) {
	data := len(p.File.Layout.Data)
	if p.IndexEntry == data {
		text.Row(w, "  index", "all %s are below the key", count(uint64(data), "separator"))
		return
	}
	text.Row(w, "  index", "entry %d of %d, separator %s: data block at %d, %s",
		p.IndexEntry+1, data, p.File.Separator(p.Block.Separator), p.Block.Offset, bytesOf(p.Block.Length))
	switch {
	case filters.None():
		text.Row(w, "  filter", "%s", cmp.Or(p.File.Unused(), "none"))
	case filters.Blocks == nil:
	case p.Slot < 0:
		text.Row(w, "  filter", "none for this block: %s", p.Blocks)
	case len(p.Filter) == 0:
		text.Row(w, "  filter", "slot %d of %d, of no keys: %s", p.Slot, filters.Blocks.Len(), p.Blocks)
	default:
		text.Row(w, "  filter", "slot %d of %d, %d bits, k %d: %s",
			p.Slot, filters.Blocks.Len(), 8*(len(p.Filter)-1), p.Filter[len(p.Filter)-1], p.Blocks)
	}
}

// outcome is how the lookup in the table ended.
func outcome(p source.Path) string {
	maybe := p.Whole == source.MayContain || p.Blocks == source.MayContain
	switch {
	case p.Found:
		return "found: " + describe(p.Entry)
	case p.Read > 0 && maybe && p.Blocks != source.Absent:
		return "absent: the filter was wrong"
	}
	return "absent"
}

// count returns n and what it counts.
func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

// bytesOf returns a number of bytes for people.
func bytesOf(n uint64) string {
	if n < 1000 {
		return count(n, "byte")
	}
	return humanize.Bytes(n)
}
