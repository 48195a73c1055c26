package command

import (
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

const compactLong = `Write a new database of what is current in DIR: the newest version of each key that is not
deleted, from its tables and logs, in tables of one level. Engines open it at once. What was
deleted or overwritten takes no more space, and a lookup asks one table. sst never writes into
DIR. Copy a database that an engine has open only if nothing that is written meanwhile matters.

Damage ends the command, and NEW is not written: use sst repair. NEW gets its name when it is
complete and on disk. If sst is killed, a directory sievetable-….tmp can be left beside it: remove
it.`

func compactCommand() *cobra.Command {
	var f copyFlags
	cmd := &cobra.Command{
		Use:   "compact [flags] DIR -o NEW",
		Short: "Write a new database of what is current in one",
		Long:  compactLong,
		Example: `  sst compact /var/lib/app/db -o /var/lib/app/compacted
  sst compact db -o compacted --bits 14 --table-size 8MiB`,
		Annotations: exitStatus{
			exitOK:      "NEW is complete and on disk",
			exitDamaged: "DIR is damaged, and NEW was not written",
		}.annotation(),
		Args:              cli.Arguments("DIR", 1, 1, 1),
		ValidArgsFunction: cli.Directory,
	}
	f.addCopy(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.strict = true
		return f.open(cmd, args[0], func(s *source.Source) error {
			if err := s.Damage; err != nil {
				return nil // which is returned as it is
			}
			c, err := f.copy(cmd.Context(), s)
			if err == nil {
				f.report(cmd, s, c)
			}
			return err
		})
	}
	return cmd
}
