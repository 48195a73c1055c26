package command

import (
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

const repairLong = `Write a new database of all that can still be read of a damaged one. NEW is a LevelDB
database, which engines open at once. sst never writes into DIR.

NEW has the newest version of each key that is not deleted: of the tables and logs that the
MANIFEST lists, with those blocks of damaged tables and those writes of damaged logs that are
sound, and of tables that the MANIFEST may have lost, since none of its edits has them. What is
deleted stays deleted, and what is old stays old: tables and logs that the MANIFEST calls obsolete
are not read. If it is damaged, those are left out that its sound edits call obsolete, and of the
others the highest sequence number decides. Obsolete tables can then bring back what was deleted.

Messages name what is lost: ranges of keys, and the sequence numbers of lost writes. Of a key
in a lost range, an older version can be in NEW, also if the key was deleted, since the damage
may have hit what was newer. A message counts these pairs, and --certain leaves them out: all
pairs of NEW are then the newest ones. Writes of a log that are lost can have been to any key,
so that no older pair is certain. The exit status is 3 if something is lost.

If nothing can be kept, NEW is not written. NEW gets its name when it is complete and on disk. If
sst is killed, a directory sievetable-….tmp can be left beside it: remove it. The blocks of a
table whose index is damaged are found by their checksums, and the table is read into memory for
that. Keys behind the first gap between them count as lost.`

func repairCommand() *cobra.Command {
	var f copyFlags
	cmd := &cobra.Command{
		Use:   "repair [flags] DIR -o NEW",
		Short: "Write a new database of what can be read of a damaged one",
		Long:  repairLong,
		Example: `  sst repair /var/lib/app/db -o /var/lib/app/repaired
  sst repair --certain db -o repaired`,
		Annotations: exitStatus{
			exitOK:      "NEW is complete and on disk, and nothing was lost",
			exitDamaged: "something was lost; NEW has the rest, if there is any",
		}.annotation(),
		Args:              cli.Arguments("DIR", 1, 1, 1),
		ValidArgsFunction: cli.Directory,
	}
	cmd.Flags().BoolVar(&f.certain, "certain", false, "leave out pairs of which newer versions, or deletions, may be lost")
	f.addCopy(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.repairs = true
		return f.open(cmd, args[0], func(s *source.Source) error {
			c, err := f.copy(cmd.Context(), s)
			if err != nil {
				return err
			}
			f.report(cmd, s, c)
			return lostKeys(s, source.KeyRange{}, "of these keys, older versions may be in the new database, also of keys that were deleted")
		})
	}
	return cmd
}

// salvagePairs is source.Options.Salvage.
func salvagePairs(f *source.File, keys source.InternalKeys) (source.Salvaged, error) {
	s, err := salvage.Open(f, keys)
	if err != nil {
		return source.Salvaged{}, err
	}
	return source.Salvaged{Pairs: s.Pairs(), Internal: s.Internal, WholeUntil: s.WholeUntil()}, nil
}
