package filterfile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
)

// ExceptFlags are the flags for the exceptions of a filter.
type ExceptFlags struct {
	Never       string // a file of keys that become exceptions; -: standard input; "": not given
	Format      string // of its lines
	AddFilter   string // a command that adds a filter to the table, for an error message
	knownAbsent bool   // the user vouches that none of them is in the set
}

// Add adds the flags, except one for Format.
func (f *ExceptFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Never, "never", "", "no key in this `file` is a false positive")
	cmd.Flags().BoolVar(&f.knownAbsent, "known-absent", false, "vouch that no key of --never is in the set")
}

// Input returns the reader of the list, which must not be one of the outputs.
func (f *ExceptFlags) Input(cmd *cobra.Command, outputs output.Files) (*input.Reader, error) {
	r := &input.Reader{Paths: []string{f.Never}, Stdin: cmd.InOrStdin(), Stderr: cmd.ErrOrStderr()}
	r.Options = input.Options{Format: f.Format, KeysOnly: true, FilesOnly: true, Outputs: outputs}
	return r, r.Options.Check(r.Paths, r.Stdin)
}

// WriteFile writes a table with the exceptions to out, which may be the table's file.
func (f *ExceptFlags) WriteFile(cmd *cobra.Command, t *dbfile.File, out string) error {
	list, err := f.Input(cmd, output.FilesOf(cmd.OutOrStdout(), out))
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	return output.WriteFile(ctx, out, cmd.OutOrStdout(), func(to io.Writer) error { return f.Write(to, t, list.Keys(ctx)) })
}

// Write writes a copy of the table to which the keys that are false positives are added as exceptions. If a key
// cannot be an exception, or the table is damaged, it returns an error.
func (f *ExceptFlags) Write(to io.Writer, t *dbfile.File, keys iter.Seq2[[]byte, error]) error {
	if t.Reader.FilterOnly() && !f.knownAbsent {
		return t.Wrap(cli.UsageErrorf("a filter alone cannot check that no key in %s is in the set: if you are sure, use --known-absent", format.ShellPath(f.Never)))
	}
	var listErr error
	list := func(yield func([]byte, error) bool) {
		keys(func(key []byte, err error) bool {
			listErr = err
			return yield(key, err)
		})
	}
	filters, err := t.Filters(), t.Reader.Verify() // the whole table is copied
	switch {
	case err != nil:
	case !filters.HasTable() && len(t.Layout.Data) > 0:
		err = fmt.Errorf("there is no table filter, which exceptions need. To add one, run: %s", f.AddFilter)
	default:
		_, err = t.Reader.Except(to, list)
	}
	if listErr != nil {
		return listErr // which names the list
	}
	if errors.Is(err, table.ErrNever) {
		err = fmt.Errorf("%s: remove it from %s", strings.TrimPrefix(err.Error(), table.ErrNever.Error()+": "), format.ShellPath(f.Never))
	}
	return t.Wrap(err)
}
