// Package command has the commands of sieve, each in files that begin with its name.
package command

import (
	"io"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

func init() { text.Program = "sieve" }

// Run executes the command line and returns the exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return program.Run(args, stdin, stdout, stderr)
}

var program = cli.Program{
	Short: "Plan, measure and use filters",
	Long:  "Plan, measure and use Bloom filters and binary fuse filters.",
	Groups: []cli.Group{
		{ID: "plan", Title: "Plan and study filters:", Commands: cli.Commands{"plan": planCommand, "rates": ratesCommand, "play": playCommand}},
		{ID: "use", Title: "Build and use filters:", Commands: cli.Commands{"build": buildCommand, "except": exceptCommand, "query": queryCommand, "seen": seenCommand, "union": unionCommand}},
		{ID: "self", Title: "About sieve:", Commands: cli.Commands{"completion": cli.CompletionCommand, "version": cli.VersionCommand}},
	},
	Aliases: map[string][]string{"fpr": {"rates"}},
	Exit: cli.ExitStatus{ // the commands' own meanings are more precise
		cli.ExitOK:       "all is well",
		cli.ExitNegative: "no key was printed",
		cli.ExitUsage:    "usage error, or I/O error",
		cli.ExitDamaged:  "a filter or a state is damaged",
		cli.ExitMemory:   "not enough memory",
	},
	Check: dbdir.CheckOutputs,
}
