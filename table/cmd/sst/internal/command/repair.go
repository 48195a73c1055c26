package command

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

const repairLong = `Write a new database from whatever is still readable of a damaged one, or a new table from a
damaged table or log. sst never writes into DIR or FILE. It prints what is lost, with exit status 3.
Older or deleted versions of lost keys may appear: sst counts them, and --certain leaves them out.
Unless flags change them, a new database keeps the compression of DIR, and a new table keeps the
settings of FILE. See sst help damage.`

// repairFlags are the flags of repair.
type repairFlags struct {
	from    sourceFlags
	to      targetFlags
	certain bool // leave out uncertain pairs
	json    bool
}

func repairCommand() *cobra.Command {
	var f repairFlags
	cmd := &cobra.Command{
		SuggestFor: []string{"fix", "recover", "restore", "rescue"},
		Use:        "repair [flags] DIR|FILE -o OUT",
		Short:      "Write a new database or table of whatever is still readable",
		Long:       repairLong,
		Example: `  sst repair /var/lib/app/db -o /var/lib/app/repaired
  sst repair --certain db -o repaired
  sst repair broken.ldb -o repaired.ldb`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "OUT is complete and on disk, and no pair is lost or doubtful",
			cli.ExitDamaged: "pairs are lost or doubtful: messages say which, and whether OUT was written",
		}.Annotation(),
		Args:              cli.Arguments("DIR or FILE", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, sourceNames...),
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.to.out, "output", "o", "", "write to this `file`, or for a database to this directory (required)")
	flags.BoolVar(&f.certain, "certain", false, "leave out pairs whose newer versions may be lost")
	flags.Var(tableSize(&f.to.tableSize), "table-size", "for a database, about the `size` of a table")
	flags.BoolVar(&f.json, "json", false, "print a JSON object: source, out, pairs and messages")
	f.to.addMemory(cmd)
	f.to.add(cmd)
	showUsualDefaults(flags)
	f.from.addDir(cmd)
	cmd.RunE = cli.StopAtSignals(func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) })
	return cmd
}

// run repairs a database, a table or a log.
func (f *repairFlags) run(cmd *cobra.Command, path string) error {
	f.from.out, f.from.TempDir, f.from.Unread = f.to.out, f.to.tempDir, reportUnread(cmd.ErrOrStderr())
	_, err := files.Stat(path)
	switch {
	case f.to.out == "":
		return cli.UsageErrorf("missing -o OUT, the name of the new database or table")
	case f.to.out == "-":
		return cli.UsageErrorf("-o is -, but the losses are printed on standard output: name a file")
	case dbdir.IsSet(path):
		return fmt.Errorf("%s is a set, which sst cannot repair as a whole: build it again, or see sst help damage", path)
	case dbdir.IsDirectory(path):
		return f.repairDatabase(cmd, path)
	case err != nil:
		return err
	}
	for _, name := range []string{"certain", "table-size", "all-tables", "no-log"} {
		if cmd.Flags().Changed(name) {
			return cli.UsageErrorf("--%s is for databases, but %s is a file: leave it out", name, format.ShellPath(path))
		}
	}
	return f.repairFile(cmd, path)
}

// reportUnread returns an Options.Unread that prints one message for each file that the disk cannot read whole.
func reportUnread(w io.Writer) func(path string, at int64, err error) {
	var reported sync.Map // by path
	return func(path string, at int64, err error) {
		if _, loaded := reported.LoadOrStore(path, true); !loaded {
			text.Say(w, "%s: at %d: %v: unreadable parts count as damaged. To save more, copy the files with ddrescue, and repair the copy",
				path, at, syscall.EIO)
		}
	}
}

// errNothingLeft ends a copy that would keep no pair. Then OUT is not written.
var errNothingLeft = errors.New("nothing is left")

// A repaired is what repair --json prints.
type repaired struct {
	Source   string   `json:"source"`
	Out      string   `json:"out,omitempty"` // "": nothing was written
	Pairs    uint64   `json:"pairs"`
	Messages []string `json:"messages"`
}

// repaired returns what repair has written, and its error. errNothingLeft is not an error.
func (c *copier) repaired(source string, err error) (repaired, error) {
	if err == errNothingLeft {
		return repaired{Source: source}, nil
	}
	return repaired{Source: source, Out: c.out, Pairs: c.pairs}, err
}

// print prints the lines of a report. With --json, it prints an object with the lines and then the losses.
func (f *repairFlags) print(out io.Writer, r repaired, report []string, lost error) error {
	if !f.json {
		for _, line := range report {
			text.Line(out, "%s", line)
		}
		return nil
	}
	for i, line := range report {
		report[i] = printable.String(line)
	}
	r.Messages = append(report, text.Lines(lost)...)
	return text.JSONLine(out, r)
}

// A fileReport has the lines of a report about a file.
type fileReport struct {
	path  string
	lines []string
}

func (r *fileReport) add(format string, args ...any) {
	r.lines = append(r.lines, r.path+": "+fmt.Sprintf(format, args...))
}
