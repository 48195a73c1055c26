package main

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

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

func statsCommand() *cobra.Command {
	var flags sourceFlags
	var asJSON, asSummary bool
	cmd := &cobra.Command{
		Use:   "stats FILE|DIR...",
		Short: "Say what tables hold, and what their filters are worth",
		Long: `Say what tables hold, of a directory those that sst get would search: where their parts
are, what blocks, compression and shared key prefixes save, and what filters are worth.

All of a table is read. A filter's rate of false positives is given as the
classical formula predicts it from bits, keys and k, and as it is measured, with
300,000 random keys. Damage is named, the rest is counted, and the exit status is 3.

--summary opens no table, and takes DIR only: by the database's MANIFEST and the sizes of
its files it says of each level how many tables and bytes it has, from which key to which,
and how many of the tables overlap; and the last sequence number, the comparator, which
logs there are and which of them are live: their writes may be in no table. Without a
MANIFEST that can be read it lists tables and logs. The exit status is 3 if a table is
missing, or of another size.`,
		Example: `  sst stats users.ldb
  sst stats --summary /var/lib/app/db
  sst stats --json users.ldb | jq '.filters[0].measured_rate'`,
		Args: arguments("FILE or DIR", 1, unlimited, unlimited),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object for each table with all figures, sizes in bytes")
	cmd.Flags().BoolVar(&asSummary, "summary", false, "say what a database consists of, by its MANIFEST alone")
	flags.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := flags.options()
		if err != nil {
			return err
		}
		if asSummary {
			return summarizeAll(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, o, asJSON)
		}
		tables, failed := targetsOf(args, o, cmd.ErrOrStderr())
		for i, t := range tables {
			separateTexts(cmd.OutOrStdout(), i, asJSON)
			err := statsOfTable(cmd.OutOrStdout(), t, o, asJSON)
			if t.wasRemoved(err, o) {
				text.Line(cmd.ErrOrStderr(), "sst: note: %s is gone before it was read: its database is in use", t.Path)
				continue
			}
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	}
	return cmd
}

// separateTexts prints an empty line before all texts but the first.
func separateTexts(out io.Writer, i int, asJSON bool) {
	if i > 0 && !asJSON {
		io.WriteString(out, "\n")
	}
}

// statsOfTable prints the stats of a table. Damage is an error behind what is printed.
func statsOfTable(out io.Writer, t target, o source.Options, asJSON bool) error {
	if t.log {
		return statsOfLog(out, t.Path, asJSON)
	}
	o.Order = t.order
	f, err := source.Open(t.Path, t.Options(o))
	if err != nil {
		return err
	}
	s, damage := tablestats.Collect(f)
	s.Measure(f)
	return errors.Join(damage, printStats(out, s, asJSON), f.Close())
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
		statsOfProperties(w, s.Properties)
	}
	return w.Flush()
}

func statsOfFile(w io.Writer, s *tablestats.Stats) {
	keys := "keys"
	if s.InternalKeys {
		keys = "internal keys, which end in sequence number and kind"
	}
	text.Row(w, "file", "%s: %s, %s", s.File, bytesOf(uint64(s.Size)), keys)
	if s.OrderNote != "" {
		text.Row(w, "order", "%s", s.OrderNote)
	} else if s.Comparer != table.BytewiseComparer.Name() {
		text.Row(w, "order", "%s", text.Escape([]byte(s.Comparer)))
	}
	text.Row(w, "footer", "at %d, 48 bytes", s.Footer)
	text.Row(w, "index", "%s", extentText(s.Index))
	text.Row(w, "metaindex", "%s", extentText(s.Metaindex))
	for _, m := range s.Meta {
		text.Row(w, "  "+text.Escape([]byte(m.Name)), "%s", extentText(m.BlockInfo))
	}
}

func extentText(e tablestats.BlockInfo) string {
	if e.Compression == "none" {
		return fmt.Sprintf("at %d, %s", e.Offset, bytesOf(e.Bytes))
	}
	return fmt.Sprintf("at %d, %s, %s %s", e.Offset, bytesOf(e.Bytes), e.Compression, ratio(float64(e.Raw), float64(e.Bytes)))
}

// ratio is how many times smaller something became.
func ratio(before, after float64) string {
	if after == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f to 1", before/after)
}

func statsOfData(w io.Writer, s *tablestats.Stats) {
	if s.DataBlocks == 0 {
		text.Row(w, "data", "none")
		return
	}
	text.Row(w, "data", "%s, %s to %s, together %s", count(uint64(s.DataBlocks), "block"),
		bytesOf(s.Smallest), bytesOf(s.Largest), bytesOf(uint64(s.DataStored)))
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(s.Compression)) {
		kinds = append(kinds, fmt.Sprintf("%s of %s", count(uint64(s.Compression[name]), "block"), name))
	}
	text.Row(w, "  compression", "%s, %s", strings.Join(kinds, ", "), ratio(float64(s.DataRaw), float64(s.DataStored)))
	entries := humanize.Comma(int64(s.Entries))
	if s.InternalKeys {
		entries += ", of them " + count(uint64(s.Deletions), "deletion")
	}
	text.Row(w, "  entries", "%s", entries)
	text.Row(w, "  keys", "%s, of which shared prefixes save %.1f %%",
		bytesOf(uint64(s.KeyBytes)), percent(s.KeyShared, s.KeyBytes))
	text.Row(w, "  values", "%s, the longest %s", bytesOf(uint64(s.ValueBytes)), bytesOf(uint64(s.LongestValue)))
	text.Row(w, "  restart points", "%s, one for %.1f entries", humanize.Comma(int64(s.Restarts)), float64(s.Entries)/float64(max(1, s.Restarts)))
}

func percent(part, of int64) float64 { return 100 * float64(part) / float64(max(1, of)) }

func statsOfFilter(w io.Writer, f tablestats.FilterStats) {
	kind := "filter by blocks"
	if f.WholeTable {
		kind = "filter of the table"
	}
	text.Row(w, kind, "%s, at %d, %s", text.Escape([]byte(f.Name)), f.Offset, bytesOf(f.Bytes))
	text.Row(w, "  filters", "%s with keys, %d without", humanize.Comma(int64(f.NonEmpty)), f.Empty)
	k := fmt.Sprint(f.KMin)
	if f.KMax != f.KMin {
		k = fmt.Sprintf("%d to %d", f.KMin, f.KMax)
	}
	text.Row(w, "  bits per key", "%.2f, k %s, %.1f %% of the bits set", f.BitsPerKey, k, 100*f.Fill)
	if f.Lookups == 0 {
		return
	}
	text.Row(w, "  false positives", "%.4f %% predicted, %.4f %% measured (%s random keys)",
		100*f.Predicted, 100*f.Measured, humanize.Comma(int64(f.Lookups)))
}

func statsOfProperties(w io.Writer, properties []tablestats.Property) {
	text.Row(w, "properties", "as the table says of itself")
	for _, p := range properties {
		text.Row(w, "  "+strings.ReplaceAll(p.Name, "_", " "), "%v", p.Value)
	}
}
