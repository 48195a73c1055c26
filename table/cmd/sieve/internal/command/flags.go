package command

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// A parsedFlag is the value of a flag that parse understands.
type parsedFlag[T any] struct {
	value *T
	parse func(string) (T, error)
	text  string // as it was given
}

// addParsed adds a flag. Its default is a text that parse takes, or "" for none.
func addParsed[T any](flags *pflag.FlagSet, p *T, parse func(string) (T, error), name, shorthand, text, usage string) {
	f := &parsedFlag[T]{p, parse, ""}
	if text != "" {
		if err := f.Set(text); err != nil {
			panic(err)
		}
	}
	flags.VarP(f, name, shorthand, usage)
}

func (f *parsedFlag[T]) String() string { return f.text }
func (f *parsedFlag[T]) Type() string   { return "value" }

// Set parses a text. Its error says what is wanted: cli puts the flag and the text before it.
func (f *parsedFlag[T]) Set(text string) error {
	v, err := f.parse(text)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), " is "+wire.Quote([]byte(text))+", "))
	}
	*f.value, f.text = v, text
	return nil
}

// upTo returns the function that parses counts from 1 to most.
func upTo[T int | uint64](most uint64) func(string) (T, error) {
	return func(text string) (T, error) {
		n, err := cli.ParseCount("", text, most)
		return T(n), err
	}
}

// parseSize parses a size.
func parseSize(text string) (uint64, error) {
	n, err := cli.ParseSize("", text, "a size such as 64, 4KiB or 64MB")
	return uint64(n), err
}

// addInputFormat adds the flag for the format of lines.
func addInputFormat(cmd *cobra.Command, format *string, usual string) {
	cmd.Flags().StringVar(format, "input-format", usual, "`format`: "+input.Formats)
	cli.Complete(cmd, "input-format", input.FormatNames...)
}
