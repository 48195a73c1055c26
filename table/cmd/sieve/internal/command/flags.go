package command

import (
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// addInputFormat adds the flag for the format of lines.
func addInputFormat(cmd *cobra.Command, format *string, usual string) {
	cmd.Flags().Var(cli.Choice(format, usual, input.FormatNames...), "input-format", "`format`: "+input.Formats)
}
