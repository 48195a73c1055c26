package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
)

const exceptLong = `Store false positives among the keys of --never beside the filter, as exceptions. sieve cannot
check that these keys are not in the set: confirm it with --known-absent.`

func exceptCommand() *cobra.Command {
	var f filterfile.ExceptFlags
	var out string
	cmd := &cobra.Command{
		Use:   "except FILTER --never FILE --known-absent [-o OUT]",
		Short: "Remove false positives from a filter",
		Long:  exceptLong,
		Example: `  sieve except blocklist.filter --never allowlist.txt --known-absent
  sieve except blocklist.filter --never allowlist.txt --known-absent -o new.filter`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "OUT is complete and on disk",
			cli.ExitDamaged: "the filter is damaged",
		}.Annotation(),
		Args:              cli.Arguments("FILTER", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, "*.filter"),
	}
	f.Add(cmd)
	cli.AddInputFormat(cmd, &f.Format, "raw-keys")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file`, not FILTER; -: standard output")
	cmd.RunE = cli.StopAtSignals(func(cmd *cobra.Command, args []string) error {
		if f.Never == "" {
			return cli.UsageErrorf("missing --never FILE (use - for standard input)")
		}
		if out == "" {
			cmd.Flags().Set("output", args[0]) // cannot fail for a string flag
		}
		if err := dbdir.CheckOutputs(cmd); err != nil {
			return err
		}
		return except(cmd, &f, args[0], out)
	})
	return cmd
}

// except writes the filter with the exceptions to out, which may be the filter's own file.
func except(cmd *cobra.Command, f *filterfile.ExceptFlags, path, out string) error {
	unlock, err := output.Lock(cmd.Context(), cmd.ErrOrStderr(), out, path)
	if err != nil {
		return err
	}
	defer unlock()
	file, err := dbfile.Open(path, dbfile.Options{})
	if err != nil {
		return err
	}
	defer file.Close() // it was only read
	advice := fmt.Sprintf("to add exceptions, run: sst convert %s --never %s -o OUT", format.ShellPath(path), format.ShellPath(f.Never))
	if err := filterfile.CheckOnly(file, advice); err != nil {
		return err
	}
	return f.WriteFile(cmd, file, out)
}
