package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// printError prints the error that ended a command.
func printError(w io.Writer, err error) {
	for _, line := range text.Lines(err) {
		text.Line(w, "sst: %s", line)
	}
}

// suggesting adds to the error for an unknown command those of a similar name. cobra
// itself would put them on lines of their own.
func suggesting(root *cobra.Command, args []string, err error) error {
	if !strings.HasPrefix(err.Error(), "unknown command") {
		return err
	}
	names := root.SuggestionsFor(args[0])
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w: did you mean %s?", err, strings.Join(names, " or "))
}
