package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// VersionCommand returns the command that prints the version.
func VersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of " + text.Program + " and Go, and the system",
		Args:  Arguments("none", 0, 0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text.Line(cmd.OutOrStdout(), "%s version %s", text.Program, version())
			text.Line(cmd.OutOrStdout(), "%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

// version returns the version of the module or, in a clone, also the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return info.Main.Version + " " + s.Value
		}
	}
	return info.Main.Version
}
