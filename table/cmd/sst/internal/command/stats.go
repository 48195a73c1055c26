package command

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

func statsCommand() *cobra.Command {
	var flags sourceFlags
	var asJSON, asSummary, asTrial bool
	cmd := &cobra.Command{
		Use:   "stats [flags] FILE|DIR...",
		Short: "Print statistics of tables, databases and sets, and of their filters",
		Long: `Print statistics of tables: the offsets and sizes of their blocks, how much space
compression and shared key prefixes save, and the false-positive rates of the filters. For
a directory or a set, print them for each table that sst get would search.

sst reads the whole table. It gives two false-positive rates of a filter: the one that is
predicted from bits, keys and k, and the one measured with 300,000 random keys. The
prediction for LevelDB's filters of < 10,000 keys is that of the classical formula. Larger
filters and filters of the whole table have higher rates, which are predicted as well. If
anything is damaged or missing, sst names the lost ranges of keys, and for a log the sequence
numbers of the lost writes. It counts the rest, and exits with status 3. --strict stops at the
first damaged file.

--summary describes a database by its MANIFEST and the sizes of its files, without opening
a table. It takes directories only. For each level it prints the number of tables, their
size, their first and last key, and how many tables overlap. It also prints the last
sequence number, the comparator, and the logs. A live log may hold writes that are not in
a table yet. Without a readable MANIFEST it lists the tables and logs. Of a set, it prints
the number of tables and entries, how even the tables are, and the range of keys. The exit
status is 3 if a table is missing or has the wrong size.

` + tryHelp,
		Example: `  sst stats users.ldb
  sst stats --summary /var/lib/app/db
  sst stats --try users.ldb
  sst stats --json users.ldb | jq '.filters[0].measured_rate'`,
		Args:              cli.Arguments("FILE or DIR", 1, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.Files(0, sourceNames...),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per table, with sizes in bytes")
	cmd.Flags().BoolVar(&asSummary, "summary", false, "describe a database by its MANIFEST, without opening tables")
	cmd.Flags().BoolVar(&asTrial, "try", false, "show how large the data would be with other block sizes and compressions")
	flags.addDir(cmd)
	flags.addStrict(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := flags.options()
		if err != nil {
			return err
		}
		switch {
		case asSummary && asTrial:
			return cli.UsageErrorf("--summary and --try are both given, want one of them")
		case asSummary:
			return summarizeAll(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, o, asJSON)
		case asTrial:
			return tryAll(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, o, asJSON)
		}
		return statsOfAll(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, o, asJSON)
	}
	return cmd
}

// statsOfAll prints the statistics of all tables and logs, and then returns their damage.
func statsOfAll(out, stderr io.Writer, args []string, o source.Options, asJSON bool) error {
	tables, failed := targetsOf(args, o, stderr)
	for i, t := range tables {
		if o.Strict && errors.Join(failed...) != nil {
			break
		}
		separateTexts(out, i, asJSON)
		err := statsOfTable(out, stderr, t, o, asJSON)
		if t.wasRemoved(err, o) {
			text.Line(stderr, "sst: note: %s was removed before it was read, because its database is in use", t.Path)
			continue
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// separateTexts prints an empty line before all texts except the first.
func separateTexts(out io.Writer, i int, asJSON bool) {
	if i > 0 && !asJSON {
		io.WriteString(out, "\n")
	}
}

// statsOfTable prints the statistics of a table, and then returns its damage.
func statsOfTable(out, stderr io.Writer, t target, o source.Options, asJSON bool) error {
	if t.log {
		return statsOfLog(out, stderr, t, asJSON)
	}
	o.Order = t.order
	f, err := t.Open(o)
	if err != nil {
		return t.Loss(err)
	}
	s, damage := tablestats.Collect(f, f.Loss)
	s.Measure(f)
	return errors.Join(damage, t.Loss(t.CheckSize(f.Size, "the MANIFEST", source.IsAnotherTable)), printStats(out, s, asJSON), f.Close())
}

func printStats(out io.Writer, s *tablestats.Stats, asJSON bool) error {
	if asJSON {
		return text.WriteJSON(out, s)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	statsOfFile(w, s)
	statsOfData(w, s)
	for _, f := range s.Filters {
		statsOfFilter(w, f)
	}
	if s.FilterNote != "" {
		text.Row(w, "filter", "%s", s.FilterNote)
	}
	if s.Properties != nil {
		statsOfProperties(w, s.Properties, filterOnly(s))
	}
	return w.Flush()
}

func statsOfFile(w io.Writer, s *tablestats.Stats) {
	keys := "plain keys"
	if s.InternalKeys {
		keys = "internal keys"
	}
	if p := s.TableProperties; filterOnly(s) {
		keys = "a filter of " + text.Count(p.FilterEntries, "key") + " only"
		if p.FilterEntries == 0 {
			keys = "for a filter only, and without keys"
		}
	}
	text.Row(w, "file", "%s: %s, %s", s.File, text.Bytes(uint64(s.Size)), keys)
	if s.OrderNote != "" {
		text.Row(w, "order", "%s", s.OrderNote)
	} else if s.Comparer != table.BytewiseComparer.Name() {
		text.Row(w, "order", "%s", text.Escape([]byte(s.Comparer)))
	}
	text.Row(w, "footer", "at %d, %d bytes", s.Footer, format.FooterLen)
	text.Row(w, "index", "%s", extentText(s.Index))
	text.Row(w, "metaindex", "%s", extentText(s.Metaindex))
	for _, m := range s.Meta {
		text.Row(w, "  "+text.Escape([]byte(m.Name)), "%s", extentText(m.BlockInfo))
	}
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
	restarts := humanize.Comma(int64(s.Restarts))
	switch s.Entries {
	case 0:
		return restarts
	case s.Restarts:
		return restarts + ", one per entry"
	}
	return fmt.Sprintf("%s, one per %.1f entries", restarts, float64(s.Entries)/float64(max(1, s.Restarts)))
}

func percent(part, of int64) float64 { return 100 * float64(part) / float64(max(1, of)) }

func statsOfFilter(w io.Writer, f tablestats.FilterStats) {
	kind := "filter by blocks"
	if f.WholeTable {
		kind = "filter of the table"
	}
	text.Row(w, kind, "%s, at %d, %s", text.Escape([]byte(f.Name)), f.Offset, text.Bytes(f.Bytes))
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
	text.Row(w, "  false positives", "%.4f %% predicted, %.4f %% measured (%s random keys)",
		100*f.Predicted, 100*f.Measured, humanize.Comma(int64(f.Lookups)))
	if f.EitherHash {
		text.Row(w, "  two hashes", "this name stands for two: keys with a byte ≥ 0x80 behind their last whole 4 bytes are checked by both, with about twice the false positives")
	}
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

func statsOfProperties(w io.Writer, properties []tablestats.Property, filterOnly bool) {
	text.Row(w, "properties", "as recorded in the table")
	for _, p := range properties {
		if filterOnly && slices.Contains(propertiesOfData, p.Name) {
			continue
		}
		text.Row(w, "  "+strings.ReplaceAll(p.Name, "_", " "), "%v", p.Value)
	}
}
