package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// mounting returns a command whose arguments may be URLs. Only the first argument of get is a name; the others are
// keys.
func mounting(command func() *cobra.Command) func() *cobra.Command {
	return func() *cobra.Command {
		cmd := command()
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			args = slices.Clone(args)
			names := len(args)
			if cmd.Name() == "get" {
				names = 1
			}
			for i, arg := range args[:names] {
				path, ok, err := files.Mount(arg)
				if !ok {
					err = fmt.Errorf("%s: sst does not read object storage: use sstcloud %s", arg, cmd.Name())
				}
				if err != nil {
					return err
				}
				args[i] = path
			}
			return run(cmd, args)
		}
		return cmd
	}
}

// checkOutputs returns an error if an output flag is a URL instead of a local path.
func checkOutputs(cmd *cobra.Command) error {
	for _, name := range []string{"output", "manifest-line", "layer-of"} {
		if f := cmd.Flags().Lookup(name); f != nil && files.IsURL(f.Value.String()) {
			return cli.UsageErrorf("--%s is %s, not a local path: write to a local directory, and upload it with sstcloud put", name, f.Value)
		}
	}
	return nil
}
