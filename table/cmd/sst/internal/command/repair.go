package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

const repairLong = `Write a new database from whatever is still readable of a damaged one, or a new table from a
damaged table or log. sst never writes into DIR or FILE. It prints what is lost, and the exit
status is then 3. Older or deleted versions of lost keys can show: sst counts them, and --certain
leaves them out. A new table keeps FILE's settings, unless flags change them.
See sst help damage.`

// repairFlags are the flags of repair.
type repairFlags struct {
	sourceFlags
	writerFlags
	cli.MemoryFlags
	tableSize string
	certain   bool // leave out what is not certain
	json      bool
}

func repairCommand() *cobra.Command {
	var f repairFlags
	cmd := &cobra.Command{
		SuggestFor: []string{"fix", "recover", "restore", "rescue"},
		Use:        "repair [flags] DIR|FILE -o OUT",
		Short:      "Write a new database or table of what can be read of a damaged one",
		Long:       repairLong,
		Example: `  sst repair /var/lib/app/db -o /var/lib/app/repaired
  sst repair --certain db -o repaired
  sst repair broken.ldb -o rescued.ldb`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "OUT is complete and on disk, and nothing was lost",
			cli.ExitDamaged: "something was lost or out of order; OUT has the rest, if there is any",
		}.Annotation(),
		Args:              cli.Arguments("DIR or FILE", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, sourceNames...),
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write to this `file`, or for a database to this directory (required)")
	flags.BoolVar(&f.certain, "certain", false, "leave out pairs whose newer versions may be lost")
	flags.StringVar(&f.tableSize, "table-size", "2MiB", "for a database, about the `size` of a table")
	flags.BoolVar(&f.json, "json", false, "print a JSON object: source, out, pairs, lost and messages")
	f.MemoryFlags.Add(cmd)
	f.writerFlags.add(cmd)
	f.sourceFlags.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) }
	return cmd
}

// run repairs what a path is.
func (f *repairFlags) run(cmd *cobra.Command, path string) error {
	isDir := dbdir.IsDirectory(path)
	switch {
	case f.out == "":
		return cli.UsageErrorf("missing -o OUT, the name of the new database or table")
	case f.out == "-":
		return cli.UsageErrorf("-o is -, but standard output has the list of losses: name a file")
	case dbdir.IsSet(path):
		return fmt.Errorf("%s is a set, which cannot be repaired as a whole: build it again, or see sst help damage", path)
	case isDir:
		if err := onlyFor(cmd, "a file", path, "memory"); err != nil {
			return err
		}
		return (&databaseRepair{repairFlags: f}).run(cmd, path)
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if err := onlyFor(cmd, "a database", path, "certain", "table-size", "all-tables", "no-log"); err != nil {
		return err
	}
	return f.repairFile(cmd, path)
}

// A repaired is what repair --json prints.
type repaired struct {
	Source   string   `json:"source"`
	Out      string   `json:"out,omitempty"` // "": nothing was written
	Pairs    uint64   `json:"pairs"`
	Messages []string `json:"messages"`
}

// print prints a report, or with --json the object that has its lines, and the lost ranges that are no line of it.
func (f *repairFlags) print(out io.Writer, r repaired, lost error, report func(io.Writer)) error {
	if !f.json {
		report(out)
		return nil
	}
	var lines strings.Builder
	report(&lines)
	r.Messages = append(strings.Split(strings.TrimSpace(lines.String()), "\n"), text.Lines(lost)...)
	if r.Pairs > 0 {
		r.Out = f.out
	}
	return text.JSONLine(out, r)
}

// onlyFor returns an error if one of the flags is given, which are for another kind of argument.
func onlyFor(cmd *cobra.Command, kind, path string, flags ...string) error {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return cli.UsageErrorf("--%s is for %s, and %s is none: leave it out", name, kind, text.ShellPath(path))
		}
	}
	return nil
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
