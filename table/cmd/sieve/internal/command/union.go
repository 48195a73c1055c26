package command

import (
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
)

const unionLong = `Merge table-bloom filters of the same size. Build them with the same BITS, and with --keys for all
of them together, or false positives increase. Exceptions are kept unless another FILTER contains
them.`

func unionCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "union FILTER... -o OUT",
		Short: "Merge filters without access to their keys",
		Long:  unionLong,
		Example: `  sieve union monday.filter tuesday.filter -o week.filter
  sieve union week.filter friday.filter -o week.filter`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "OUT is complete and on disk",
			cli.ExitUsage:   "usage error, I/O error, or filters that cannot be merged",
			cli.ExitDamaged: "a filter is damaged",
		}.Annotation(),
		Args:              cli.Arguments("FILTER", 1, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.Files(0, "*.filter"),
		RunE: cli.StopAtSignals(func(cmd *cobra.Command, paths []string) error {
			if out == "" {
				return cli.UsageErrorf("missing -o OUT (use - for standard output)")
			}
			return filterfile.Unite(cmd, paths, out)
		}),
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file`; -: standard output (required)")
	return cmd
}
