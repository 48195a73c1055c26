package command

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// rowIf prints a row if cond is true.
func rowIf(cond bool, w io.Writer, name, format string, args ...any) {
	if cond {
		text.Row(w, name, format, args...)
	}
}

// propertiesOfData are the properties that mean nothing for a table with only a filter.
var propertiesOfData = []string{
	"entries", "deletions", "raw_key_bytes", "raw_value_bytes", "data_blocks", "data_bytes", "index_bytes",
	"compression", "block_size", "restart_interval", "filter_base_lg", "index_type",
}

func printStats(w io.Writer, s *tablestats.Stats) {
	filterOnly := s.TableProperties != nil && s.TableProperties.FilterOnly
	printFile(w, s, filterOnly)
	if !filterOnly {
		printData(w, s)
	}
	for _, f := range s.Filters {
		printFilter(w, f)
	}
	if e := s.Exceptions; e != nil {
		text.Row(w, "exceptions", "%s of the table filter, at %d, %s, %.1f bytes each",
			text.Count(uint64(e.Keys), "key"), e.Offset, text.Bytes(e.Bytes), float64(e.Bytes)/float64(e.Keys))
	}
	rowIf(s.FilterNote != "", w, "filter", "%s", s.FilterNote)
	rowIf(s.Properties != nil, w, "properties", "as recorded in the table")
	for _, p := range s.Properties {
		if p.Name == "table_filter_keys" && s.TableProperties.FilterPrefix != "" {
			p.Value = filterKeysText(s.TableProperties)
		}
		rowIf(!filterOnly || !slices.Contains(propertiesOfData, p.Name), w, "  "+strings.ReplaceAll(p.Name, "_", " "), "%v", p.Value)
	}
}

func printFile(w io.Writer, s *tablestats.Stats, filterOnly bool) {
	keys := "plain keys"
	switch {
	case filterOnly && s.TableProperties.FilterEntries == 0:
		keys = "only a filter, without keys"
	case filterOnly:
		keys = "only a filter of " + filterKeysText(s.TableProperties)
	case s.InternalKeys:
		keys = "internal keys"
	}
	text.Row(w, "file", "%s: %s, %s", s.File, text.Bytes(uint64(s.Size)), keys)
	isBytewise := s.OrderNote == "" && s.Comparer == table.BytewiseComparer.Name()
	rowIf(!isBytewise, w, "order", "%s", cmp.Or(s.OrderNote, printable.Escape([]byte(s.Comparer))))
	text.Row(w, "footer", "at %d, %d bytes", s.Footer, format.FooterLen)
	text.Row(w, "index", "%s", extentText(s.Index))
	text.Row(w, "metaindex", "%s", extentText(s.Metaindex))
	for _, m := range s.Meta {
		text.Row(w, "  "+printable.Escape([]byte(m.Name)), "%s", extentText(m.BlockInfo))
	}
}

// filterKeysText formats the number of keys in a table filter. Tables store one number for keys and prefixes
// together.
func filterKeysText(p *layout.Properties) string {
	if p.FilterPrefix != "" && p.FilterEntries > 1 {
		return humanize.Comma(int64(p.FilterEntries)) + " keys and prefixes"
	}
	return text.Count(p.FilterEntries, "key")
}

func extentText(e tablestats.BlockInfo) string {
	extent := fmt.Sprintf("at %d, %s", e.Offset, text.Bytes(e.Bytes))
	if e.Compression != "none" {
		extent += fmt.Sprintf(", %s %s", e.Compression, ratio(int64(e.Raw), int64(e.Bytes)))
	}
	return extent
}

// ratio formats a compression ratio.
func ratio(before, after int64) string {
	if after == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f to 1", float64(before)/float64(after))
}

func printData(w io.Writer, s *tablestats.Stats) {
	if s.DataBlocks == 0 {
		text.Row(w, "data", "none")
		return
	}
	blocks := text.Count(uint64(s.DataBlocks), "block") + " of " + text.Bytes(s.Smallest)
	if s.Largest != s.Smallest {
		blocks += " to " + text.Bytes(s.Largest)
	}
	if s.DataBlocks > 1 {
		blocks += ", total " + text.Bytes(uint64(s.DataStored))
	}
	text.Row(w, "data", "%s", blocks)
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(s.Compression)) {
		kinds = append(kinds, fmt.Sprintf("%s: %s", name, text.Count(uint64(s.Compression[name]), "block")))
	}
	text.Row(w, "  compression", "%s, %s", strings.Join(kinds, ", "), ratio(s.DataRaw, s.DataStored))
	entries := humanize.Comma(int64(s.Entries))
	if s.InternalKeys {
		entries += ", including " + text.Count(uint64(s.Deletions), "deletion")
	}
	text.Row(w, "  entries", "%s", entries)
	text.Row(w, "  keys", "%s, %.1f %% saved by shared prefixes",
		text.Bytes(uint64(s.KeyBytes)), 100*float64(s.KeyShared)/float64(max(1, s.KeyBytes)))
	text.Row(w, "  values", "%s, longest %s", text.Bytes(uint64(s.ValueBytes)), text.Bytes(uint64(s.LongestValue)))
	rowIf(s.Entries > 0, w, "  key sizes", "%s", s.KeySizes)
	rowIf(s.Entries > 0, w, "  value sizes", "%s", s.ValueSizes)
	restarts := humanize.Comma(int64(s.RestartPoints))
	if s.Entries > 0 && s.Entries == s.RestartPoints {
		restarts += ", one per entry"
	} else if s.Entries > 0 {
		restarts += fmt.Sprintf(", one per %.1f entries", float64(s.Entries)/float64(max(1, s.RestartPoints)))
	}
	text.Row(w, "  restart points", "%s", restarts)
}

func printFilter(w io.Writer, f tablestats.FilterStats) {
	kind := "block filters"
	if f.WholeTable {
		kind = "table filter"
	}
	text.Row(w, kind, "%s, at %d, %s", printable.Escape([]byte(f.Name)), f.Offset, text.Bytes(f.Bytes))
	if !f.WholeTable && f.NonEmpty+f.Empty == 0 {
		text.Row(w, "  filters", "none")
		return
	}
	rowIf(!f.WholeTable, w, "  filters", "%s with keys, %s without", humanize.Comma(int64(f.NonEmpty)), humanize.Comma(int64(f.Empty)))
	k := fmt.Sprint(f.KMin)
	if f.KMax != f.KMin {
		k += fmt.Sprint(" to ", f.KMax)
	}
	rowIf(f.FingerprintBits > 0, w, "  bits per key", "%.2f, in fingerprints of %d bits", f.BitsPerKey, f.FingerprintBits)
	rowIf(f.FingerprintBits == 0, w, "  bits per key", "%.2f, k = %s, %.1f %% of the bits set", f.BitsPerKey, k, 100*f.Fill)
	if f.Lookups == 0 {
		return
	}
	text.Row(w, "  false positives", "%.4f %% predicted, %.*f %% measured (%s random keys)",
		100*f.Predicted, decimals(f.Lookups), 100*f.Measured, humanize.Comma(int64(f.Lookups)))
	if f.NeighborsPass() {
		text.Row(w, "  warning", "%.2g %% false positives among %s absent keys that differ from present ones in the last byte: Bloom filters handle such keys badly",
			100*f.Neighbors.Rate, humanize.Comma(int64(f.Neighbors.Lookups)))
		text.Row(w, "", "use a fuse filter instead: --bits none --table-filter fuse:8 has 0.39 %%")
	}
	rowIf(f.EitherHash, w, "  two hashes",
		"engines use two hashes under this name: keys with a byte ≥ 0x80 after their last whole 4 bytes are checked with both, with about twice the false positives")
}

// decimals returns the number of reliable decimals in a percentage measured by this many lookups: 4 for 300,000.
func decimals(lookups int) (n int) {
	for rest := lookups / 30; rest >= 10; rest /= 10 {
		n++
	}
	return n
}

// summarize prints the summary of a database or a set, and then returns its damage.
func (p *pass) summarize(path string) error {
	if s, damage := summary.ReadSet(path, p.options.ListOptions); s != nil {
		p.note(s.Notes...)
		return cmp.Or(p.print(s, func(w io.Writer) { printSetSummary(w, s) }), damage)
	} else if damage != nil {
		return damage
	}
	s, damage := summary.Read(path, p.options.ListOptions, false)
	if s == nil {
		return damage
	}
	p.note(s.Notes...)
	return cmp.Or(p.print(s, func(w io.Writer) { printSummary(w, s) }), damage)
}

func printSummary(w io.Writer, s *summary.Summary) {
	other := "table"
	if s.Manifest == nil {
		text.Row(w, "directory", "%s, without a readable MANIFEST", s.Path)
	} else {
		other = "table not listed"
		text.Row(w, "database", "%s, as %s says (%s)", s.Path, s.Manifest.Name, text.Bytes(uint64(s.Manifest.Bytes)))
		text.Row(w, "comparator", "%s", format.Quote([]byte(s.Comparer)))
		text.Row(w, "last sequence", "%d, without the writes in live logs", *s.LastSequence)
		printLevels(w, s.Levels)
	}
	for _, l := range s.Logs {
		state := ""
		if l.Live != nil {
			state = map[bool]string{true: ", live", false: ", obsolete: its writes are in tables"}[*l.Live]
		}
		text.Row(w, "log", "%s, %s%s", l.Name, text.Bytes(uint64(l.Bytes)), state)
	}
	for _, t := range s.Others {
		text.Row(w, other, "%s, %s", t.Name, text.Bytes(uint64(t.Bytes)))
	}
}

func printLevels(w io.Writer, levels []summary.Level) {
	tables, size := 0, uint64(0)
	for _, l := range levels {
		tables, size = tables+l.Tables, size+l.Bytes
		keys := ""
		if l.Overlap != nil {
			user := func(k *text.Key) string { return format.Quote(internalkey.UserKey(k.Stored)) }
			keys = fmt.Sprintf(", keys %s to %s", user(l.Smallest), user(l.Largest))
			if *l.Overlap > 0 {
				keys += fmt.Sprintf(", %s overlap", humanize.Comma(int64(*l.Overlap)))
			}
		}
		text.Row(w, fmt.Sprintf("level %d", l.Level), "%s, %s%s", text.Count(uint64(l.Tables), "table"), text.Bytes(l.Bytes), keys)
	}
	text.Row(w, "all levels", "%s, %s", text.Count(uint64(tables), "table"), text.Bytes(size))
}

// printSetSummary prints the summary of a set. If its layers are large, it says how to fold them.
func printSetSummary(w io.Writer, s *summary.SetSummary) {
	text.Row(w, "set", "%s, %s, %s", s.Manifest, text.Count(uint64(s.Tables), "table"), text.Bytes(uint64(s.Bytes)))
	if s.Tables == 0 {
		return
	}
	entries := humanize.Comma(int64(s.Entries))
	if s.Layers > 0 {
		entries += " without layers"
	}
	tables := uint64(max(1, s.InBase))
	rowIf(s.InBase > 0, w, "entries", "%s, at most %s in a table, %s on average", entries,
		humanize.Comma(int64(s.MostEntries)), humanize.Comma(int64((s.Entries+tables/2)/tables))) // rounded
	changes, share, fold := s.Added+s.Removals, "", ""
	if s.Entries > 0 {
		share = fmt.Sprintf(": %.1f %% of the entries", 100*float64(changes)/float64(s.Entries))
	}
	switch {
	case 10*changes < s.Entries:
	case s.Filters:
		fold = ": to remove the layers, build the set again from its keys"
	default:
		fold = ": to fold the layers, run: " + files.MergeLine("", s.Manifest, "NEW/")
	}
	rowIf(s.Layers > 0, w, "layers", "%d, with %s and %s%s%s", s.Layers, text.Count(s.Added, "pair"),
		text.Count(s.Removals, "removal"), share, fold)
	rowIf(s.Smallest != nil, w, "keys", "%v to %v", s.Smallest, s.Largest)
	text.Row(w, "read at opening", "%s: filters and indexes", text.Bytes(uint64(s.TailBytes)))
}
