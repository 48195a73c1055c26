package command

import (
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/play"
)

const playLong = `Write a web page, one file that loads no others, to play with LevelDB's Bloom filter: size it by
keys, rate, bits per key or k; add keys and see the bits they share; look a key up, find false
positives, compare the fill with the prediction, and measure the speed. Its bits are those that
LevelDB, goleveldb and this library store. Its address keeps settings and keys.`

func playCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:         "play -o PAGE",
		Short:       "Write a web page to play with a Bloom filter",
		Long:        playLong,
		Example:     `  sieve play -o play.html`,
		Annotations: cli.ExitStatus{cli.ExitUsage: "usage error, or I/O error"}.Annotation(),
		Args:        cli.Arguments("", 0, 0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return cli.UsageErrorf("missing -o PAGE (use - for standard output)")
			}
			return cli.WritePage(cmd.Context(), name, play.Write, cmd.OutOrStdout())
		},
	}
	cli.AddPageFlag(cmd, &name)
	return cmd
}
