package command

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

const queryLong = `Print each KEY, or line of --keys-from, that the filter contains. Printed keys can be false
positives, at the rate that sieve plan predicts. All others are certainly absent.`

// queryFlags are the flags of query.
type queryFlags struct {
	from, format string
	absent       bool
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
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1:]) },
	}
	cmd.Flags().BoolVarP(&f.absent, "invert-match", "v", false, "print the absent keys instead")
	cmd.Flags().StringVar(&f.from, "keys-from", "-", "read keys from this `file`, one per line")
	addInputFormat(cmd, &f.format, "raw-keys")
	return cmd
}

// run looks the keys up.
func (f *queryFlags) run(cmd *cobra.Command, path string, keys []string) error {
	stdin := cmd.InOrStdin()
	if len(keys) > 0 {
		if cmd.Flags().Changed("keys-from") {
			return cli.UsageErrorf("--keys-from and KEY cannot be combined")
		}
		stdin = strings.NewReader(strings.Join(keys, "\n") + "\n")
	}
	outputs := output.FilesOf(cmd.OutOrStdout(), "")
	read := &input.Reader{Paths: []string{f.from}, Stdin: stdin, Stderr: io.Discard} // without notes
	read.Options = input.Options{Format: f.format, KeysOnly: true, Memory: memory.DefaultLimit, Outputs: outputs}
	if err := read.Options.Check(read.Paths, stdin); err != nil {
		return err
	}
	if files.IsDir(path) {
		return fmt.Errorf("%s is a directory, not a filter: to look up keys in a set, run: sst get %s KEY", path, text.ShellPath(path))
	}
	file, err := dbfile.Open(path, dbfile.Options{Outputs: outputs})
	if err != nil {
		return err
	}
	defer file.Close() // it was only read
	if !file.Reader.FilterOnly() {
		return file.Wrap(fmt.Errorf("a table, not a filter: to look up keys, run: sst get %s KEY", text.ShellPath(path)))
	}
	if err := file.Reader.FilterErr(); err != nil { // it would contain every key
		return file.Wrap(err)
	}
	return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
		found, err := f.print(ctx, file, read, cmd.OutOrStdout().(cli.Stdout))
		if err == nil {
			err = cli.Negative(!found)
		}
		return err
	})
}

// print prints keys in the format that they have. Of a pipe, each is printed at once.
func (f *queryFlags) print(ctx context.Context, file *dbfile.File, keys *input.Reader, out cli.Stdout) (found bool, err error) {
	live := f.from == "-" && !isRegular(keys.Stdin)
	for pair, err := range keys.Pairs(ctx) {
		if err != nil {
			return found, err
		}
		may, err := file.Reader.With(ctx).MayContain(pair.Key)
		if err != nil {
			return found, file.Wrap(err)
		}
		if may == f.absent {
			continue
		}
		found = true
		out.Write(append(f.encode(pair.Key), '\n')) // Flush returns the error
		if live {
			err = out.Flush()
		}
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// encode returns a key in the format of its line.
func (f *queryFlags) encode(key []byte) []byte {
	switch f.format {
	case "raw", "raw-keys":
		return key
	case "hex":
		return hex.AppendEncode(nil, key)
	}
	return printable.AppendEscape(nil, key)
}

// isRegular reports whether standard input is a file.
func isRegular(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}
