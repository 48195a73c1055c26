package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/anatomy"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

func statsCommand() *cobra.Command {
	var flags sourceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats FILE|DIR...",
		Short: "Say what tables hold, and what their filters are worth",
		Long: `Say what tables hold, of a directory those that sst get would search: where their parts
are, what blocks, compression and shared key prefixes save, and what filters are worth.

All of a table is read. A filter's rate of false positives is given as the
classical formula predicts it from bits, keys and k, and as it is measured, with
300,000 random keys. Damage is named, the rest is counted, and the exit status is 3.`,
		Example: `  sst stats users.ldb
  sst stats --json users.ldb | jq '.filters[0].measured_rate'`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object for each table with all figures, sizes in bytes")
	flags.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := flags.options()
		if err != nil {
			return err
		}
		paths, _, failed := tablesOf(args, flags.allTables, cmd.ErrOrStderr())
		for i, path := range paths {
			if i > 0 && !asJSON {
				fmt.Fprintln(cmd.OutOrStdout())
			}
			failed = append(failed, statsOf(cmd.OutOrStdout(), path, o, asJSON))
		}
		return errors.Join(failed...)
	}
	return cmd
}

// statsOf prints the stats of a table. Damage is an error behind what is printed.
func statsOf(out io.Writer, path string, o source.Options, asJSON bool) error {
	f, err := source.Open(path, o)
	if err != nil {
		return err
	}
	s, damage := anatomy.StatsOf(f)
	s.Measure(f)
	return errors.Join(damage, printStats(out, s, asJSON), f.Close())
}

func printStats(out io.Writer, s *anatomy.Stats, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(s)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	statsOfFile(w, s)
	statsOfData(w, s)
	for _, f := range s.Filters {
		statsOfFilter(w, f)
	}
	if s.Unused != "" {
		fmt.Fprintf(w, "filter\t%s\n", s.Unused)
	}
	if s.Properties != nil {
		statsOfProperties(w, s.Properties)
	}
	return w.Flush()
}

func statsOfFile(w io.Writer, s *anatomy.Stats) {
	keys := "keys"
	if s.InternalKeys {
		keys = "internal keys, which end in sequence number and kind"
	}
	fmt.Fprintf(w, "file\t%s: %s, %s\n", s.File, bytesOf(uint64(s.Size)), keys)
	fmt.Fprintf(w, "footer\tat %d, 48 bytes\n", s.Footer)
	fmt.Fprintf(w, "index\t%s\n", extentText(s.Index))
	fmt.Fprintf(w, "metaindex\t%s\n", extentText(s.Metaindex))
	for _, m := range s.Meta {
		fmt.Fprintf(w, "  %s\t%s\n", text.Escape([]byte(m.Name)), extentText(m.Extent))
	}
}

func extentText(e anatomy.Extent) string {
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

func statsOfData(w io.Writer, s *anatomy.Stats) {
	if s.DataBlocks == 0 {
		fmt.Fprintf(w, "data\tnone\n")
		return
	}
	fmt.Fprintf(w, "data\t%s, %s to %s, together %s\n", count(uint64(s.DataBlocks), "block"),
		bytesOf(s.Smallest), bytesOf(s.Largest), bytesOf(uint64(s.DataStored)))
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(s.Compression)) {
		kinds = append(kinds, fmt.Sprintf("%s of %s", count(uint64(s.Compression[name]), "block"), name))
	}
	fmt.Fprintf(w, "  compression\t%s, %s\n", strings.Join(kinds, ", "), ratio(float64(s.DataRaw), float64(s.DataStored)))
	fmt.Fprintf(w, "  entries\t%s", humanize.Comma(int64(s.Entries)))
	if s.InternalKeys {
		fmt.Fprintf(w, ", of them %s", count(uint64(s.Deletions), "deletion"))
	}
	fmt.Fprintf(w, "\n  keys\t%s, of which shared prefixes save %.1f %%\n",
		bytesOf(uint64(s.KeyBytes)), percent(s.KeyShared, s.KeyBytes))
	fmt.Fprintf(w, "  values\t%s, the longest %s\n", bytesOf(uint64(s.ValueBytes)), bytesOf(uint64(s.LongestValue)))
	fmt.Fprintf(w, "  restart points\t%s, one for %.1f entries\n", humanize.Comma(int64(s.Restarts)), float64(s.Entries)/float64(max(1, s.Restarts)))
}

func percent(part, of int64) float64 { return 100 * float64(part) / float64(max(1, of)) }

func statsOfFilter(w io.Writer, f anatomy.Filters) {
	kind := "filter by blocks"
	if f.Whole {
		kind = "filter of the table"
	}
	fmt.Fprintf(w, "%s\t%s, at %d, %s\n", kind, text.Escape([]byte(f.Name)), f.Offset, bytesOf(f.Bytes))
	fmt.Fprintf(w, "  filters\t%s with keys, %d without\n", humanize.Comma(int64(f.Count)), f.Empty)
	k := fmt.Sprint(f.KMin)
	if f.KMax != f.KMin {
		k = fmt.Sprintf("%d to %d", f.KMin, f.KMax)
	}
	fmt.Fprintf(w, "  bits per key\t%.2f, k %s, %.1f %% of the bits set\n", f.BitsPerKey, k, 100*f.Fill)
	if f.Questions == 0 {
		return
	}
	fmt.Fprintf(w, "  false positives\t%.4f %% predicted, %.4f %% measured (%s random keys)\n",
		100*f.Predicted, 100*f.Measured, humanize.Comma(int64(f.Questions)))
}

func statsOfProperties(w io.Writer, properties []anatomy.Property) {
	fmt.Fprintf(w, "properties\tas the table says of itself\n")
	for _, p := range properties {
		fmt.Fprintf(w, "  %s\t%v\n", strings.ReplaceAll(p.Name, "_", " "), p.Value)
	}
}
