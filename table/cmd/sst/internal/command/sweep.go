package command

import (
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/partition"
)

const sweepLong = `List the tables in a set's directory that no manifest there lists, and temporary files of killed
builds: one per line, with size and time. With --delete, remove them. Programs may still read the
older tables of a set that was built again: sweep once they have reopened it. --age must be longer
than a build takes.`

func sweepCommand() *cobra.Command {
	var remove, json bool
	var age time.Duration
	cmd := &cobra.Command{
		SuggestFor: []string{"clean", "gc", "prune", "vacuum"},
		Use:        "sweep [flags] DIR",
		Short:      "List or remove tables that no manifest of a set lists",
		Long:       sweepLong,
		Example: `  sst sweep urls
  sst sweep --delete --age 1h urls`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "all was listed, or removed with --delete",
			cli.ExitDamaged: "a manifest is damaged, and nothing was removed",
		}.Annotation(),
		Args:              cli.Arguments("DIR", 1, 1, 1),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	cmd.Flags().BoolVar(&remove, "delete", false, "remove the files")
	cmd.Flags().DurationVar(&age, "age", 24*time.Hour, "keep files that changed within this `time`")
	cmd.Flags().BoolVar(&json, "json", false, "print a JSON object per line")
	cmd.RunE = interruptible(func(cmd *cobra.Command, args []string) error {
		if age < 0 {
			return cli.UsageErrorf("--age is %v, not 0 or more", age)
		}
		return sweep(cmd, args[0], time.Now().Add(-age), remove, json)
	})
	return cmd
}

// sweep prints the files, and what became of all.
func sweep(cmd *cobra.Command, dir string, before time.Time, remove, json bool) error {
	var n, size uint64
	err := partition.Sweep(cmd.Context(), dir, before, remove, func(info fs.FileInfo) error {
		n, size = n+1, size+uint64(info.Size())
		name, out, modified := info.Name(), cmd.OutOrStdout(), info.ModTime().UTC().Truncate(time.Second)
		if json {
			return text.JSONLine(out, struct {
				Name     string    `json:"name"`
				Bytes    int64     `json:"bytes"`
				Modified time.Time `json:"modified"`
			}{name, info.Size(), modified})
		}
		text.Cells(out, name, strconv.FormatInt(info.Size(), 10), modified.Format(time.RFC3339))
		return nil
	})
	if err != nil && n == 0 {
		return err
	}
	done := "would be removed by --delete"
	if remove {
		done = "removed"
	}
	text.Note(cmd.ErrOrStderr(), "%s, %s, %s", text.Count(n, "file"), text.Bytes(size), done)
	return err
}
