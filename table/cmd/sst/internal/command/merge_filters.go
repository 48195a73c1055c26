package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
)

// isFilter reports whether a file is a table with a filter only. Another error is returned when the file is merged.
func isFilter(path string) bool {
	if dbdir.IsDirectory(path) {
		return false
	}
	f, err := dbfile.Open(path, dbfile.Options{ScanOnly: true})
	if err != nil {
		return false
	}
	defer f.Close() // it was only read
	return f.Reader.FilterOnly()
}

// mergeFilters unites filters. The flags of other outputs are errors.
func (f *mergeFlags) mergeFilters(cmd *cobra.Command, paths []string) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "output" {
			err = cli.UsageErrorf("--%s is given, but the INPUTs are filters, and their union is like them: leave it out", flag.Name)
		}
	})
	if err != nil {
		return err
	}
	return filterfile.Unite(cmd, paths, f.to.out)
}
