// Package command has the commands of sst. Each is in the files that begin with its name. What
// several share is in *_flags.go, appenders.go, errors.go, pass.go, printer.go and targets.go.
//
// The work is done by other packages: dbfile opens a file, dbdir lists those of a database or a set, and source reads
// them as one; tablestats, layout, summary and report describe them; input, sorting, output and partition make new
// ones; salvage reads damaged ones.
package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
)

// Run executes the command line and returns the exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return program.Run(args, stdin, stdout, stderr)
}

var program = cli.Program{
	Short: "Build, search, check and explain sorted-string tables (.ldb and .sst files)",
	Long:  "Read, check, repair, build and explain LevelDB's tables (.ldb, .sst), logs, databases and sets.",
	Groups: []cli.Group{
		{ID: "look", Title: "Look into tables, databases and sets:", Commands: cli.Commands{
			"get": getCommand, "scan": scanCommand, "stats": statsCommand, "verify": verifyCommand,
			"layout": layoutCommand, "diff": diffCommand, "report": reportCommand,
		}},
		{ID: "make", Title: "Make tables, sets and databases:", Commands: cli.Commands{
			"build": buildCommand, "convert": convertCommand, "manifest": manifestCommand, "merge": mergeCommand, "sweep": sweepCommand,
		}},
		{ID: "repair", Title: "Repair:", Commands: cli.Commands{"repair": repairCommand}},
		{ID: "topics", Title: "Topics, by sst help TOPIC:", Commands: topics},
		{ID: "self", Title: "About sst:", Commands: cli.Commands{"completion": cli.CompletionCommand, "version": cli.VersionCommand}},
	},
	Aliases: map[string][]string{
		"compact":      {"merge", "--database"},
		"filter union": {"merge"},
		"salvage":      {"repair"},
	},
	Moved:  map[string]string{"fpr": "sieve rates", "plan": "sieve plan", "play": "sieve play", "seen": "sieve seen"},
	Exit:   exitMeanings,
	Check:  dbdir.CheckOutputs,
	Advise: advise,
}

// exitMeanings are what the exit statuses of sst mean. Its help and the README have them. Commands say more precisely
// what theirs mean.
var exitMeanings = cli.ExitStatus{
	cli.ExitOK:       "all is well",
	cli.ExitNegative: "a key is absent, or two tables differ",
	cli.ExitUsage:    "usage error, or I/O error",
	cli.ExitDamaged:  "a table, a log or a manifest is damaged or missing",
	cli.ExitMemory:   "not enough memory",
}

// newCommand returns sst with all commands, or only with the one that the arguments are for.
func newCommand(args []string) *cobra.Command { return program.Command(args) }
