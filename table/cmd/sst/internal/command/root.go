// Package command implements the commands of sst. Each is in the files that begin with its name. Shared code is in
// *_flags.go, pass.go, printer.go, advice.go and this file.
//
// Other packages do the work: dbfile opens a file, dbdir lists the files of a database or a set, and source reads
// them as one. tablestats, layout, summary and report describe files, and salvage reads damaged ones. input reads and
// sorts lines, and output writes files.
package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
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
			"get": mounting(getCommand), "scan": mounting(scanCommand), "stats": mounting(statsCommand),
			"verify": mounting(verifyCommand), "layout": mounting(layoutCommand), "diff": mounting(diffCommand),
			"report": mounting(reportCommand),
		}},
		{ID: "make", Title: "Make tables, sets and databases:", Commands: cli.Commands{
			"build": mounting(buildCommand), "convert": mounting(convertCommand), "manifest": mounting(manifestCommand),
			"merge": mounting(mergeCommand), "sweep": mounting(sweepCommand),
		}},
		{ID: "repair", Title: "Repair:", Commands: cli.Commands{"repair": mounting(repairCommand)}},
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
	Check:  func(cmd *cobra.Command) error { return cmp.Or(checkOutputs(cmd), dbdir.CheckOutputs(cmd)) },
	Advise: advise,
}

// Program returns sst, for a program that adds commands to it.
func Program() cli.Program { return program }

// exitMeanings explains the exit statuses of sst, in its help and the README. The commands' own texts are more
// precise.
var exitMeanings = cli.ExitStatus{
	cli.ExitOK:       "all is well",
	cli.ExitNegative: "a key is absent, or two tables differ",
	cli.ExitUsage:    "usage error, or I/O error",
	cli.ExitDamaged:  "a table, a log or a manifest is damaged or missing",
	cli.ExitMemory:   "not enough memory",
}

// maxNamedLosses is the number of lost ranges that are named one by one.
const maxNamedLosses = 100

// namedLosses returns an error for each loss, and then their meaning. If there are no losses, it returns nil.
func namedLosses(s *source.Source, losses []source.Loss, meaning string) error {
	var all []error
	for i := range losses[:min(len(losses), maxNamedLosses)] {
		all = append(all, losses[i].InFile())
	}
	if others := len(losses) - maxNamedLosses; others > 0 {
		all = append(all, fmt.Errorf("%s: also lost %s, among the %s", s.Path, text.Count(uint64(others), "other range"), s.Hull(losses[maxNamedLosses:])))
	}
	if all == nil {
		return nil
	}
	if meaning != "" {
		all = append(all, errors.New(meaning))
	}
	return errors.Join(all...)
}
