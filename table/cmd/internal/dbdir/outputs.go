package dbdir

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// outputFlags are the flags of all commands that name a file or a directory to write.
var outputFlags = []string{"output", "manifest-line", "state"}

// AddForce adds the flag of commands that can replace what a set or a database needs.
func AddForce(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "replace a set, or a table that a manifest lists")
}

// CheckOutputs returns an error if a database or a set needs a file that the command would replace. With --force,
// tables that are listed and manifests of sets can be replaced: a note says what to do then.
func CheckOutputs(cmd *cobra.Command) error {
	force, _ := cmd.Flags().GetBool("force") // a command without the flag has none
	for _, name := range outputFlags {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed || f.Value.Type() != "string" || f.Value.String() == "-" {
			continue
		}
		path := f.Value.String()
		owner := OwnerOf(RealName(path))
		if cmd.Name() == "rates" { // which writes two files of other names
			owner = cmp.Or(OwnerOf(RealName(path+".svg")), OwnerOf(RealName(path+".csv")))
		}
		replaceable := owner.Listed && name == "output"
		switch {
		case owner.What == "":
		case replaceable && force:
			if owner.After != "" {
				text.Note(cmd.ErrOrStderr(), "%s is %s: %s", path, owner.What, owner.After)
			}
		case replaceable && cmd.Flags().Lookup("force") != nil:
			return cli.UsageErrorf("--%s is %s, %s: to replace it, use --force", name, text.ShellPath(path), owner.What)
		default:
			return cli.UsageErrorf("--%s is %s, %s: name another file", name, text.ShellPath(path), owner.What)
		}
	}
	return nil
}
