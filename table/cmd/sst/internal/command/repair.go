package command

import (
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

const repairLong = `Write a new database of all that can still be read of a damaged one. NEW is a LevelDB
database, which engines open at once. sst never writes into DIR.

NEW has the newest version of each key that is not deleted: of the tables and logs that the
MANIFEST lists, with those blocks of damaged tables and those writes of damaged logs that are
sound. What is deleted stays deleted, and what is old stays old: other tables and logs are not
read. If the MANIFEST is damaged, it may have lost tables: those are read too that none of its
edits has, and only those left out that its sound edits call obsolete. If it is lost, all are read.
The highest sequence number decides then, and obsolete tables can bring back what was deleted.

Messages name what is lost: ranges of keys, or of many ranges one for each file, and the sequence
numbers of lost writes. The exit status is 3 if something is lost. Of a key in a lost range, an
older version can be in NEW, also if the key was deleted, since the damage may have hit what was
newer. A message counts these pairs, and --certain leaves them out. All pairs of NEW are then the
newest ones, except that a log that was cut at its end cannot be told from one that a crash left,
unless the MANIFEST counts the writes that it lacks.

Keys that are out of order under right checksums are sorted, and count as a range of which keys can
be lost, since one of them can have been another key. Of entries of the same key and sequence
number, the first in the table is kept. A key whose kind is not LevelDB's is lost, with its older
versions.

Certain are, if the MANIFEST is sound:
  - writes of live logs behind those that are lost,
  - pairs of tables, if no writes of logs are lost, and no range of their level, or of a lower
    one, that has their keys. LevelDB up to 1.20, if a snapshot was held, could move a newer version
    to a higher level: of such a key, an older pair can count as certain.
Pairs of tables and logs that the MANIFEST does not list are never certain, as with --all-tables.
With --no-log the writes of live logs are lost. If the MANIFEST is lost, or damaged, nothing is
certain.

If nothing can be kept, as it can be with --certain, NEW is not written. NEW gets its name when it
is complete and on disk. If sst is killed, a directory sievetable-….tmp can be left beside it:
remove it. The blocks of a table whose index is damaged are found by their checksums, and the table
is read into memory for that. Keys behind the first gap between them count as lost.`

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
			return lostFrom(s)
		})
	}
	return cmd
}

// fewLosses is how many ranges of lost keys a repair names. The report says how many pairs may be old.
const fewLosses = 8

// lostFrom returns errors for the keys that a source has lost: of many ranges, one for each file.
func lostFrom(s *source.Source) error {
	losses := s.Losses(source.KeyRange{})
	if len(losses) > fewLosses && s.Order != table.AnyOrder {
		losses = s.ByFile(losses)
	}
	return namedLosses(s, losses, "")
}

// salvagePairs is source.Options.Salvage.
func salvagePairs(f *source.File, keys source.InternalKeys) (source.Salvaged, error) {
	s, err := salvage.Open(f, keys)
	if err != nil {
		return source.Salvaged{}, err
	}
	return source.Salvaged{Pairs: s.Pairs(), Internal: s.Internal, WholeUntil: s.WholeUntil()}, nil
}
