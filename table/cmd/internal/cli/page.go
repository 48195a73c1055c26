package cli

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/output"
)

// ErrNoPage is the error of a command without the flag.
var ErrNoPage = UsageErrorf("-o is not given, want the name of the page, or - for standard output")

// AddPageFlag adds the flag for the name of the web page that the command writes.
func AddPageFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVarP(name, "output", "o", "", "write the page to `PAGE`; -: standard output (required)")
}

// WritePage writes a web page to the file with this name. The file gets its name when the
// page is complete.
func WritePage(ctx context.Context, name string, page func(io.Writer) error, stdout io.Writer) error {
	return Interruptible(ctx, func(ctx context.Context) error {
		return output.WriteFile(ctx, name, stdout, func(to io.Writer) error {
			out := bufio.NewWriter(to)
			return errors.Join(page(out), out.Flush())
		})
	})
}
