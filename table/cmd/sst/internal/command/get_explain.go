package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// explain prints the steps of the lookup of a key.
func explain(out io.Writer, s *source.Source, key []byte) (found bool, err error) {
	text.Line(out, "key %s", format.Quote(key))
	e, found, paths, err := s.Explain(key)
	if err != nil && !errors.As(err, new(*merge.HiddenError)) {
		return false, err
	}
	if e.Log != "" {
		text.Line(out, "%s: found in the batch at %d", filepath.Base(e.Log), e.Offset)
	}
	filterOnly := slices.ContainsFunc(paths, func(p dbfile.LookupTrace) bool { return p.FilterOnly })
	alone := !s.Dir && len(paths) == 1
	for _, p := range paths {
		explainTable(out, p, alone)
	}
	if s.Dir {
		explainTotals(out, s, paths)
	}
	hidden := err != nil || s.MayHideKeys()
	switch {
	case alone: // explainTable has printed the answer
	case hidden && (found || e.Internal):
		text.Line(out, "unknown: damage may hide a newer version. %s", describeVersion(e.Entry))
	case hidden:
		text.Line(out, "unknown: damage may hide the key")
	case found || e.Internal:
		text.Line(out, "%s", describeVersion(e.Entry))
	case len(paths) > 0 && paths[len(paths)-1].Removed:
		text.Line(out, "absent: removed by a layer of the set")
	case filterOnly:
		text.Line(out, "may be present")
	case s.Dir && len(paths) == 0 && len(s.Tables) > 0:
		text.Line(out, "absent: no table covers the key")
	default:
		text.Line(out, "absent")
	}
	return found || filterOnly, err
}

// describeVersion describes the newest version of a key, which may be a tombstone.
func describeVersion(e dbfile.Entry) string {
	if e.Internal && e.Kind == internalkey.Delete {
		return fmt.Sprintf("absent: deleted by the tombstone with sequence number %d", e.Sequence)
	}
	return "found: " + describeEntry(e)
}

// describeEntry describes an entry, with the start of its value. A tombstone has none.
func describeEntry(e dbfile.Entry) string {
	version := ""
	if e.Internal {
		version = fmt.Sprintf("sequence %d, %s", e.Sequence, text.KindName(e.Kind))
		if e.Kind == internalkey.Delete {
			return version
		}
		version += ", "
	}
	value, more := e.Value, ""
	if len(value) > 60 {
		value, more = value[:60], "…"
	}
	if len(value) == 0 {
		return version + "an empty value"
	}
	return fmt.Sprintf("%s%s, %s%s", version, text.Bytes(uint64(len(e.Value))), printable.Escape(value), more)
}

// explainTotals prints how many tables were searched, and the work done.
func explainTotals(out io.Writer, s *source.Source, paths []dbfile.LookupTrace) {
	var ruledOut, read, size, pages uint64
	var spent time.Duration
	for _, p := range paths {
		read, size, pages, spent = read+p.BlocksRead, size+p.BytesRead, pages+p.PagesRead, spent+p.Time
		if p.TableFilter == dbfile.Absent || p.BlockFilter == dbfile.Absent {
			ruledOut++
		}
	}
	switch all := uint64(len(s.Tables)); {
	case all == 0:
		text.Line(out, "total: there are no tables")
	case len(paths) == 0:
		text.Line(out, "total: 0 of %s searched", text.Count(all, "table"))
	default:
		blocks := fmt.Sprintf("%s read (%s)", text.Count(read, "data block"), text.Bytes(size))
		if pages > 0 {
			blocks = fmt.Sprintf("%s of 4 KiB and %s", text.Count(pages, "filter page"), blocks)
		}
		text.Line(out, "total: %d of %s searched, %d ruled out by filters, %s, in %s", len(paths), text.Count(all, "table"), ruledOut, blocks, spent)
	}
}

// explainTable prints the steps in a table. If alone is true, its answer is the answer of the lookup.
func explainTable(out io.Writer, p dbfile.LookupTrace, alone bool) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	filters, tableFilter := p.File.Filters(), p.TableFilter
	if p.IsException {
		tableFilter = dbfile.MayContain
	}
	text.Line(out, "%s (%s, %s)", filepath.Base(p.File.Path), text.Bytes(uint64(p.File.Size)), text.Count(uint64(len(p.File.Layout.Data)), "data block"))
	rowIf(filters.HasTable(), w, "  table filter", "%s, %s: %s", printable.Escape([]byte(strings.TrimPrefix(filters.TableEntry.Name, format.TableFilterPrefix))),
		text.Bytes(filters.TableEntry.Length), tableFilter)
	rowIf(p.PagesRead > 0, w, "  filter read", "%s of 4 KiB", text.Count(p.PagesRead, "page"))
	bits, fuse := p.TableProbes, p.FuseProbes
	rowIf(len(bits.Bits) > 0, w, "  table bits", "hash 0x%08x, line %d: %s", bits.Hash, bits.Line, probedBits(bits))
	rowIf(p.IsFuse, w, "  fingerprint", "hash 0x%016x: expected 0x%x, slots %d, %d and %d give 0x%x",
		fuse.Hash, fuse.Want, fuse.Places[0], fuse.Places[1], fuse.Places[2], fuse.Have)
	rowIf(p.IsException, w, "  exceptions", "one of %s that the filter contains by chance: certainly absent", text.Count(uint64(filters.Never.Len()), "key"))
	if filters.Prefix != nil {
		text.Row(w, "  prefixes", "%s: for scans, not consulted", printable.Escape([]byte(filters.Prefix.Name())))
	}
	if p.TableFilter != dbfile.Absent && !p.FilterOnly {
		explainBlock(w, p, filters)
	}
	text.Row(w, "  read", "%s, %s, in %s", text.Count(p.BlocksRead, "data block"), text.Bytes(p.BytesRead), p.Time)
	text.Row(w, "  answer", "%s", lookupOutcome(p, alone))
	w.Flush()
}

// explainBlock prints the answers of the index and of the block filter.
func explainBlock(w io.Writer, p dbfile.LookupTrace, filters dbfile.Filters) {
	data := len(p.File.Layout.Data)
	if p.IndexEntry == data {
		index := "empty: there are no data blocks"
		if data == 1 {
			index = "key > the only separator: the data block cannot contain it"
		} else if data > 1 {
			index = "key > all " + text.Count(uint64(data), "separator") + ": no data block can contain it"
		}
		text.Row(w, "  index", "%s", index)
		return
	}
	text.Row(w, "  index", "entry %d of %d, separator %s: data block at %d, %s",
		p.IndexEntry+1, data, p.File.Separator(p.Block.Separator), p.Block.Offset, text.Bytes(p.Block.Length))
	rowIf(filters.None(), w, "  filter", "%s", cmp.Or(p.File.FilterNote(), "none"))
	if filters.Blocks == nil {
		return
	}
	number := fmt.Sprintf("filter %d of 0 to %d", p.FilterIndex, filters.Blocks.Len()-1)
	if filters.Blocks.Len() == 1 {
		number = "filter 0, the only one"
	}
	switch k := len(p.FilterData) - 1; {
	case p.FilterIndex < 0:
		text.Row(w, "  filter", "none for this block: %s", p.BlockFilter)
	case k < 0:
		text.Row(w, "  filter", "%s, without keys: %s", number, p.BlockFilter)
	default:
		text.Row(w, "  filter", "%s, %d bits, k = %d: %s", number, 8*k, p.FilterData[k], p.BlockFilter)
		hash := "hash"
		if p.BlockProbes.Signed { // as in C++ LevelDB < 1.18
			hash = "hash of signed bytes"
		}
		text.Row(w, "  bits", "%s 0x%08x: %s", hash, p.BlockProbes.Hash, probedBits(p.BlockProbes))
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
			steps = append(steps, fmt.Sprintf("%d clear", bit))
			break
		}
		steps = append(steps, fmt.Sprintf("%d set", bit))
	}
	return strings.Join(steps, ", ")
}

// lookupOutcome describes the result of the lookup in a table.
func lookupOutcome(p dbfile.LookupTrace, alone bool) string {
	absent := "not in this table"
	if alone {
		absent = "absent"
	}
	table, block := p.TableFilter == dbfile.MayContain, p.BlockFilter == dbfile.MayContain
	switch {
	case p.Err != nil:
		return "unknown: the data block is damaged"
	case p.Removed:
		return "found: the key is removed from older layers"
	case p.Found && alone:
		return describeVersion(p.Entry)
	case p.Found:
		return "found: " + describeEntry(p.Entry)
	case p.FilterOnly:
		return "may be present: the table is only a filter, without entries"
	case !p.FalsePositive:
		return absent
	case p.IsPrefix:
		return absent + ": a prefix in the filter, or a false positive"
	case table && block:
		return absent + ": a false positive of both filters"
	case table:
		return absent + ": a false positive of the table filter"
	}
	return absent + ": a false positive of the filter"
}
