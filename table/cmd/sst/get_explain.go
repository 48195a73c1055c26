package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// explain prints the steps of the lookup of a key.
func explain(out io.Writer, s *source.Source, key []byte) (found bool, err error) {
	text.Line(out, "key %s", wire.Quote(key))
	e, found, paths, err := s.Explain(key)
	if err != nil {
		return false, err
	}
	if e.Log != "" {
		text.Line(out, "%s: found in the batch at %d", filepath.Base(e.Log), e.Offset)
	}
	explainTables(out, s, paths)
	switch {
	case found:
		text.Line(out, "found: %s", describeEntry(e))
	case slices.ContainsFunc(paths, func(p source.LookupTrace) bool { return p.FilterOnly }):
		text.Line(out, "may be present")
		return true, nil
	case e.Internal:
		text.Line(out, "absent: deleted by the tombstone with sequence number %d", e.Sequence)
	default:
		text.Line(out, "absent")
	}
	return found, nil
}

// describeEntry describes an entry, with the start of its value. A tombstone has none.
func describeEntry(e source.Entry) string {
	version := ""
	if e.Internal {
		version = fmt.Sprintf("sequence %d, %s", e.Sequence, text.KindName(e.Kind))
		if e.Kind == table.KindDelete {
			return version
		}
		version += ", "
	}
	value, more := e.Value, ""
	if len(value) > 60 {
		value, more = value[:60], "…"
	}
	return fmt.Sprintf("%s%s, %s%s", version, text.Bytes(uint64(len(e.Value))), text.Escape(value), more)
}

// explainTables prints the steps in each table, and totals.
func explainTables(out io.Writer, s *source.Source, paths []source.LookupTrace) {
	var ruledOut, read, size uint64
	var spent time.Duration
	for _, p := range paths {
		read, size, spent = read+p.BlocksRead, size+p.BytesRead, spent+p.Time
		if p.TableFilter == source.Absent || p.BlockFilter == source.Absent {
			ruledOut++
		}
		explainTable(out, p)
	}
	if s.Dir {
		text.Line(out, "total: %d of %s searched, %d excluded by their filters, %s read (%s), in %s",
			len(paths), text.Count(uint64(len(s.Tables)), "table"), ruledOut, text.Count(read, "data block"), text.Bytes(size), spent)
	}
}

func explainTable(out io.Writer, p source.LookupTrace) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	data, filters := len(p.File.Layout.Data), p.File.Filters()
	text.Line(out, "%s (%s, %s)", filepath.Base(p.File.Path), text.Bytes(uint64(p.File.Size)), text.Count(uint64(data), "data block"))
	if filters.Table != nil {
		text.Row(w, "  table filter", "%s, %s: %s", text.Escape([]byte(strings.TrimPrefix(filters.TableEntry.Name, format.TableFilterPrefix))), text.Bytes(filters.TableEntry.Length), p.TableFilter)
	}
	if len(p.TableProbes.Bits) > 0 {
		text.Row(w, "  table bits", "hash 0x%08x, line %d: %s", p.TableProbes.Hash, p.TableProbes.Line, probedBits(p.TableProbes))
	}
	if f := p.FuseProbes; p.IsFuse {
		text.Row(w, "  fingerprint", "hash 0x%016x: 0x%x is wanted, and %d, %d and %d give 0x%x", f.Hash, f.Want, f.Places[0], f.Places[1], f.Places[2], f.Have)
	}
	if p.TableFilter != source.Absent && !p.FilterOnly {
		explainBlock(w, p, filters)
	}
	text.Row(w, "  read", "%s, %s, in %s", text.Count(p.BlocksRead, "data block"), text.Bytes(p.BytesRead), p.Time)
	text.Row(w, "  answer", "%s", lookupOutcome(p))
	w.Flush()
}

// explainBlock prints the answers of the index and of the block filter.
func explainBlock(w io.Writer, p source.LookupTrace, filters source.Filters) {
	data := len(p.File.Layout.Data)
	if p.IndexEntry == data {
		text.Row(w, "  index", "key > all %s: no data block can have it", text.Count(uint64(data), "separator"))
		return
	}
	text.Row(w, "  index", "entry %d of %d, separator %s: data block at %d, %s",
		p.IndexEntry+1, data, p.File.Separator(p.Block.Separator), p.Block.Offset, text.Bytes(p.Block.Length))
	switch {
	case filters.None():
		text.Row(w, "  filter", "%s", cmp.Or(p.File.FilterNote(), "none"))
	case filters.Blocks == nil:
	case p.FilterIndex < 0:
		text.Row(w, "  filter", "none for this block: %s", p.BlockFilter)
	case len(p.FilterData) == 0:
		text.Row(w, "  filter", "filter %d of %d, without keys: %s", p.FilterIndex, filters.Blocks.Len(), p.BlockFilter)
	default:
		text.Row(w, "  filter", "filter %d of %d, %d bits, k = %d: %s",
			p.FilterIndex, filters.Blocks.Len(), 8*(len(p.FilterData)-1), p.FilterData[len(p.FilterData)-1], p.BlockFilter)
		text.Row(w, "  bits", "hash 0x%08x: %s", p.BlockProbes.Hash, probedBits(p.BlockProbes))
	}
}

// probedBits lists the bits of a key that a filter looked up, up to the first clear one.
func probedBits(p filter.Probes) string {
	if len(p.Bits) == 0 {
		return "no bits, because k > 30 is reserved"
	}
	var steps []string
	for i, bit := range p.Bits {
		if i == p.Clear {
			return strings.Join(append(steps, fmt.Sprintf("%d clear", bit)), ", ")
		}
		steps = append(steps, fmt.Sprintf("%d set", bit))
	}
	return strings.Join(steps, ", ")
}

// lookupOutcome describes the result of the lookup in a table.
func lookupOutcome(p source.LookupTrace) string {
	table, block := p.TableFilter == source.MayContain, p.BlockFilter == source.MayContain
	switch {
	case p.Found:
		return "found: " + describeEntry(p.Entry)
	case p.FilterOnly:
		return "may be present: there is a filter only, and no entry to look at"
	case !p.FalsePositive:
		return "absent"
	case table && block:
		return "absent: a false positive of both filters"
	case table:
		return "absent: a false positive of the table filter"
	}
	return "absent: a false positive of the filter"
}
