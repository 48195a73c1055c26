package command

import (
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/play"
)

const playLong = `Write a web page to play with LevelDB's Bloom filter. The page is a single file, loads no
other files, and works without a network, also on a phone. In it you

  - size a filter: for a number of keys, by a false-positive rate, or by bits per key and k
  - add keys, your own or examples, and see which bits each sets and which bits keys share
  - ask for a key, and see which probe finds a clear bit, or which keys set its bits
  - let the page find a false positive
  - compare how full the filter is and how often it errs with what is predicted
  - measure how many keys this browser adds and asks for in a second

The bits are those that LevelDB, goleveldb and this library store for the same keys. The
page takes up to 3200 keys of up to 64 bytes, in filters for up to 1600 keys. Its address
keeps settings, keys and the asked key, so that a link restores them.

The page is always the same: it needs no table. See sst help report for a page about a table
and its filters, and sst help plan and sst help fpr for filters of other sizes.`

func playCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "play -o PAGE",
		Short: "Write a web page to play with a Bloom filter",
		Long:  playLong,
		Example: `  sst play -o play.html
  sst play -o - > play.html`,
		Annotations: exitStatus{exitUsage: "wrong usage, or a file that cannot be written"}.annotation(),
		Args:        cli.Arguments("flags only", 0, 0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return errNoPage
			}
			return writePage(cmd.Context(), name, play.Write, cmd.OutOrStdout())
		},
	}
	addPageFlag(cmd, &name)
	return cmd
}
