package command

import (
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/play"
)

const playLong = `Write a web page to play with LevelDB's Bloom filter: size it, see which bits keys share, find
false positives, and compare predicted with measured rates. It works offline and keeps settings and
keys in its address.`

func playCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:         "play -o PAGE",
		Short:       "Write a web page to play with a Bloom filter",
		Long:        playLong,
		Example:     `  sieve play -o play.html`,
		Annotations: cli.ExitStatus{}.Annotation(),
		Args:        cli.Arguments("", 0, 0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return cli.ErrNoPage
			}
			return cli.WritePage(cmd.Context(), name, play.Write, cmd.OutOrStdout())
		},
	}
	cli.AddPageFlag(cmd, &name)
	return cmd
}
