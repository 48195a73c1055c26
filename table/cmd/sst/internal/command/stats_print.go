package command

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

func printStats(w io.Writer, s *tablestats.Stats) {
	statsOfFile(w, s)
	statsOfData(w, s)
	for _, f := range s.Filters {
		statsOfFilter(w, f)
	}
	if e := s.Exceptions; e != nil {
		text.Row(w, "exceptions", "%s of the filter of the table, at %d, %s, %.1f bytes each", text.Count(uint64(e.Keys), "key"), e.Offset, text.Bytes(e.Bytes), float64(e.Bytes)/float64(e.Keys))
	}
	if s.FilterNote != "" {
		text.Row(w, "filter", "%s", s.FilterNote)
	}
	if s.Properties != nil {
		statsOfProperties(w, s)
	}
}

func statsOfFile(w io.Writer, s *tablestats.Stats) {
	keys := "plain keys"
	if s.InternalKeys {
		keys = "internal keys"
	}
	if p := s.TableProperties; filterOnly(s) {
		keys = "a filter of " + filterKeysText(p) + " only"
		if p.FilterEntries == 0 {
			keys = "for a filter only, and without keys"
		}
	}
	text.Row(w, "file", "%s: %s, %s", s.File, text.Bytes(uint64(s.Size)), keys)
	if s.OrderNote != "" {
		text.Row(w, "order", "%s", s.OrderNote)
	} else if s.Comparer != table.BytewiseComparer.Name() {
		text.Row(w, "order", "%s", printable.Escape([]byte(s.Comparer)))
	}
	text.Row(w, "footer", "at %d, %d bytes", s.Footer, format.FooterLen)
	text.Row(w, "index", "%s", extentText(s.Index))
	text.Row(w, "metaindex", "%s", extentText(s.Metaindex))
	for _, m := range s.Meta {
		text.Row(w, "  "+printable.Escape([]byte(m.Name)), "%s", extentText(m.BlockInfo))
	}
}

// filterKeysText says how many keys the filter of the table has. Tables store one number for keys and
// prefixes.
func filterKeysText(p *table.Properties) string {
	if p.FilterPrefix != "" && p.FilterEntries > 1 {
		return humanize.Comma(int64(p.FilterEntries)) + " keys and prefixes"
	}
	return text.Count(p.FilterEntries, "key")
}

func filterOnly(s *tablestats.Stats) bool {
	return s.TableProperties != nil && s.TableProperties.FilterOnly
}

func extentText(e tablestats.BlockInfo) string {
	if e.Compression == "none" {
		return fmt.Sprintf("at %d, %s", e.Offset, text.Bytes(e.Bytes))
	}
	return fmt.Sprintf("at %d, %s, %s %s", e.Offset, text.Bytes(e.Bytes), e.Compression, ratio(float64(e.Raw), float64(e.Bytes)))
}

// ratio formats a compression ratio.
func ratio(before, after float64) string {
	if after == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f to 1", before/after)
}

func statsOfData(w io.Writer, s *tablestats.Stats) {
	if filterOnly(s) {
		return
	}
	if s.DataBlocks == 0 {
		text.Row(w, "data", "none")
		return
	}
	text.Row(w, "data", "%s", blocksText(s))
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(s.Compression)) {
		kinds = append(kinds, fmt.Sprintf("%s: %s", name, text.Count(uint64(s.Compression[name]), "block")))
	}
	text.Row(w, "  compression", "%s, %s", strings.Join(kinds, ", "), ratio(float64(s.DataRaw), float64(s.DataStored)))
	entries := humanize.Comma(int64(s.Entries))
	if s.InternalKeys {
		entries += ", including " + text.Count(uint64(s.Deletions), "deletion")
	}
	text.Row(w, "  entries", "%s", entries)
	text.Row(w, "  keys", "%s, %.1f %% saved by shared prefixes",
		text.Bytes(uint64(s.KeyBytes)), percent(s.KeyShared, s.KeyBytes))
	text.Row(w, "  values", "%s, longest %s", text.Bytes(uint64(s.ValueBytes)), text.Bytes(uint64(s.LongestValue)))
	if s.Entries > 0 {
		text.Row(w, "  key sizes", "%s", s.KeySizes)
		text.Row(w, "  value sizes", "%s", s.ValueSizes)
	}
	text.Row(w, "  restart points", "%s", restartsText(s))
}

// blocksText says how many data blocks there are, and of which sizes.
func blocksText(s *tablestats.Stats) string {
	sizes := text.Bytes(s.Smallest)
	if s.Largest != s.Smallest {
		sizes += " to " + text.Bytes(s.Largest)
	}
	if s.DataBlocks == 1 {
		return "1 block of " + sizes
	}
	return fmt.Sprintf("%s of %s, total %s", text.Count(uint64(s.DataBlocks), "block"), sizes, text.Bytes(uint64(s.DataStored)))
}

// restartsText says how many restart points there are, and how far apart.
func restartsText(s *tablestats.Stats) string {
	restarts := humanize.Comma(int64(s.RestartPoints))
	switch s.Entries {
	case 0:
		return restarts
	case s.RestartPoints:
		return restarts + ", one per entry"
	}
	return fmt.Sprintf("%s, one per %.1f entries", restarts, float64(s.Entries)/float64(max(1, s.RestartPoints)))
}

func percent(part, of int64) float64 { return 100 * float64(part) / float64(max(1, of)) }

func statsOfFilter(w io.Writer, f tablestats.FilterStats) {
	kind := "filter by blocks"
	if f.WholeTable {
		kind = "filter of the table"
	}
	text.Row(w, kind, "%s, at %d, %s", printable.Escape([]byte(f.Name)), f.Offset, text.Bytes(f.Bytes))
	switch {
	case f.WholeTable:
	case f.NonEmpty+f.Empty == 0:
		text.Row(w, "  filters", "none")
		return
	default:
		text.Row(w, "  filters", "%s with keys, %s without", humanize.Comma(int64(f.NonEmpty)), humanize.Comma(int64(f.Empty)))
	}
	text.Row(w, "  bits per key", "%.2f, %s", f.BitsPerKey, bitsText(f))
	if f.Lookups == 0 {
		return
	}
	text.Row(w, "  false positives", "%.4f %% predicted, %.*f %% measured (%s random keys)",
		100*f.Predicted, decimals(f.Lookups), 100*f.Measured, humanize.Comma(int64(f.Lookups)))
	if f.NeighboursPass() {
		text.Row(w, "  warning", "%.2g %% of %s absent keys pass that differ from present ones in the last byte: Bloom filters spread such keys badly",
			100*f.Neighbours.Rate, humanize.Comma(int64(f.Neighbours.Lookups)))
		text.Row(w, "", "a fuse filter does not: build with --bits none --table-filter fuse:8, which lets 0.39 %% pass")
	}
	if f.EitherHash {
		text.Row(w, "  two hashes", "this name stands for two: keys with a byte ≥ 0x80 behind their last whole 4 bytes are checked by both, with about twice the false positives")
	}
}

// decimals returns how many decimals of a percentage so many lookups tell: 4 for 300,000.
func decimals(lookups int) (n int) {
	for rest := lookups / 30; rest >= 10; rest /= 10 {
		n++
	}
	return n
}

// bitsText says what the bits of a filter are.
func bitsText(f tablestats.FilterStats) string {
	switch {
	case f.FingerprintBits > 0:
		return fmt.Sprintf("in fingerprints of %d bits", f.FingerprintBits)
	case f.KMax != f.KMin:
		return fmt.Sprintf("k = %d to %d, %.1f %% of the bits set", f.KMin, f.KMax, 100*f.Fill)
	}
	return fmt.Sprintf("k = %d, %.1f %% of the bits set", f.KMin, 100*f.Fill)
}

// propertiesOfData are the properties that say nothing about a table with a filter only.
var propertiesOfData = []string{
	"entries", "deletions", "raw_key_bytes", "raw_value_bytes", "data_blocks", "data_bytes", "index_bytes",
	"compression", "block_size", "restart_interval", "filter_base_lg", "index_type",
}

func statsOfProperties(w io.Writer, s *tablestats.Stats) {
	text.Row(w, "properties", "as recorded in the table")
	for _, p := range s.Properties {
		switch {
		case filterOnly(s) && slices.Contains(propertiesOfData, p.Name):
			continue
		case p.Name == "table_filter_keys" && s.TableProperties.FilterPrefix != "":
			p.Value = filterKeysText(s.TableProperties)
		}
		text.Row(w, "  "+strings.ReplaceAll(p.Name, "_", " "), "%v", p.Value)
	}
}
