package command

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

const queryLong = `Print each KEY, or key in --keys-from, that the filter contains. Printed keys can be false
positives: sieve plan predicts rates for random keys. All others are certainly absent.`

// queryFlags are the flags of query.
type queryFlags struct {
	cli.KeyFlags
	absent bool
}

func queryCommand() *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:   "query [flags] FILTER [KEY...]",
		Short: "Print the keys that a filter contains",
		Long:  queryLong,
		Example: `  sieve query blocklist.filter http://example.com/
  sieve query blocklist.filter --keys-from visited.txt
  tail -f urls.log | sieve query -v known.filter`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:       "a key was printed",
			cli.ExitNegative: "no key was printed",
			cli.ExitDamaged:  "the filter is damaged",
		}.Annotation(),
		Args:              cli.Arguments("FILTER", 1, cli.Unlimited, 1),
		ValidArgsFunction: cli.Files(1, "*.filter"),
		RunE: cli.StopAtSignals(func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0], args[1:])
		}),
	}
	cmd.Flags().BoolVarP(&f.absent, "invert-match", "v", false, "print the absent keys instead")
	f.KeyFlags.Add(cmd, "look up", "raw-keys")
	cmd.Flag("keys-from").DefValue = "-"
	return cmd
}

// run looks the keys up.
func (f *queryFlags) run(cmd *cobra.Command, path string, args []string) error {
	keys, err := f.DecodeAll(args)
	if err != nil {
		return err
	}
	if len(keys) == 0 && f.From == "" {
		f.From = "-"
	}
	if files.IsDir(path) {
		return fmt.Errorf("%s is a directory, not a filter: to look up keys in a set, run: sst get %s KEY", path, format.ShellPath(path))
	}
	file, err := dbfile.Open(path, dbfile.Options{Outputs: output.FilesOf(cmd.OutOrStdout())})
	if err != nil {
		return err
	}
	defer file.Close() // it was only read
	if err := filterfile.CheckOnly(file, fmt.Sprintf("to look up keys, run: sst get %s KEY", format.ShellPath(path))); err != nil {
		return err
	}
	if err := file.Reader.FilterErr(); err != nil { // otherwise it would seem to contain every key
		return file.Wrap(err)
	}
	found, err := f.print(cmd, file, keys)
	return cmp.Or(err, cli.Negative(!found))
}

// print looks up the keys and the lines of --keys-from, and prints the results in the same format. It prints keys
// from a pipe at once.
func (f *queryFlags) print(cmd *cobra.Command, file *dbfile.File, keys [][]byte) (found bool, err error) {
	out := cmd.OutOrStdout().(cli.Stdout)
	live := f.isLive(cmd.InOrStdin())
	for key, err := range f.Lines(keys, cmd, output.FilesOf(out)) {
		if err != nil {
			return found, err
		}
		may, err := file.Reader.With(cmd.Context()).MayContain(key)
		if err != nil {
			return found, file.Wrap(err)
		}
		if may == f.absent {
			continue
		}
		found = true
		out.Write(append(f.encode(key), '\n')) // Flush returns the error
		if live {
			err = out.Flush()
		}
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// encode returns a key in the format of the input.
func (f *queryFlags) encode(key []byte) []byte {
	switch f.Format {
	case "raw", "raw-keys":
		return key
	case "hex":
		return hex.AppendEncode(nil, key)
	case "json":
		line, _ := text.Key{Stored: key}.MarshalJSON() // any bytes can be encoded
		return line
	}
	return printable.AppendEscape(nil, key)
}

// isLive reports whether the next key of --keys-from may take long to arrive, for example from a pipe or a
// terminal.
func (f *queryFlags) isLive(stdin io.Reader) bool {
	info, err := os.Stat(f.From)
	if file, ok := stdin.(*os.File); ok && f.From == "-" {
		info, err = file.Stat()
	}
	return err != nil || !info.Mode().IsRegular()
}
