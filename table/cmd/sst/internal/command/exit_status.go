package command

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

const (
	exitNegative = 1
	exitUsage    = 2
	exitDamaged  = 3
)

// An exitStatus is what the exit status of a command means, by number. "" at exitNegative and
// exitDamaged: the command never has it.
type exitStatus [4]string

// Meanings that most commands share.
const (
	allWell    = "all is well"
	wrongUsage = "wrong usage, a file that cannot be read or written, or one that is not LevelDB's"
)

// exitStatuses are what differs by command.
var exitStatuses = map[string]exitStatus{
	"sst": {
		exitNegative: "a key is absent, or two tables differ",
		exitDamaged:  "damage in a table, a log or a manifest, or one of them is missing",
	},
	"get":      {0: "all keys were found", exitNegative: "a key is absent", exitDamaged: "damage, or what is missing, may hide the newest version of a key"},
	"scan":     {0: "all entries were printed", exitDamaged: "entries are lost by damage, or in a table or a log that is missing; older ones may be printed"},
	"stats":    {exitDamaged: "a table or a log is damaged or missing; with --summary: missing, or of a wrong size"},
	"verify":   {0: "all was checked and is sound", exitDamaged: "a table, a log or a manifest is damaged or missing"},
	"layout":   {exitDamaged: "a part of the file is damaged"},
	"diff":     {0: "there are no differences", exitNegative: "there are differences", exitDamaged: "not all was compared, because of damage, or a table or a log that is missing"},
	"report":   {exitDamaged: "the page shows damage, or tables that are missing"},
	"build":    {0: "OUT is complete and on disk", exitUsage: "wrong usage or input, or a file that cannot be read or written"},
	"convert":  {0: "OUT is complete and on disk", exitDamaged: "FILE is damaged, and OUT was not written"},
	"manifest": {0: "the manifest is complete and on disk", exitDamaged: "a table is damaged, and no manifest was written"},
	"salvage":  {0: "nothing was lost", exitDamaged: "something was lost, or skipped"},
	"plan":     {exitUsage: "wrong usage, or memory that is too small for a table"},
	"fpr":      {exitUsage: "wrong usage, or a file that cannot be read or written"},
	"play":     {exitUsage: "wrong usage, or a file that cannot be written"},
}

// exitStatusHelp returns the part of a command's help about its exit status.
func exitStatusHelp(cmd *cobra.Command) string {
	meanings, ok := exitStatuses[cmd.Name()]
	if !ok {
		meanings[exitUsage] = "wrong usage"
	}
	meanings[0] = cmp.Or(meanings[0], allWell)
	meanings[exitUsage] = cmp.Or(meanings[exitUsage], wrongUsage)
	var b strings.Builder
	b.WriteString("Exit status:\n")
	for status, meaning := range meanings {
		if meaning != "" {
			text.Line(&b, "  %d  %s", status, meaning)
		}
	}
	return b.String()
}
