package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// unlimited is a number of arguments without limit.
const unlimited = 1 << 30

// arguments checks the number of arguments. what describes them for the error. The first
// names arguments are names of files.
func arguments(what string, least, most, names int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("got %s, want %s: %s", text.Count(uint64(len(args)), "argument"), what, seeHelp(cmd))
		}
		for _, arg := range args[:min(names, len(args))] {
			if arg == "" {
				return fmt.Errorf("an argument is empty, want the name of a file or a directory: %s", seeHelp(cmd))
			}
		}
		return nil
	}
}

func seeHelp(cmd *cobra.Command) string { return "see " + cmd.CommandPath() + " --help" }

// flagTypes describes the values of flags, by the type of the flag.
var flagTypes = map[string]string{
	"int": "a whole number", "uint64": "a whole number ≥ 0", "float64": "a number",
	"bool": "true or false", "intSlice": "whole numbers, separated by commas", "stringSlice": "words, separated by commas",
}

// explainFlag says what is wrong with the value of a flag, and where the flag is explained.
func explainFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("%w: %s", err, seeHelp(cmd))
	}
	flag, problem := invalid.GetFlag(), fmt.Sprint(invalid.Unwrap())
	if want, ok := flagTypes[flag.Value.Type()]; ok {
		problem = "want " + want // instead of the error of strconv
	}
	if errors.Is(err, strconv.ErrRange) {
		problem = "which is too large or too small"
	}
	return fmt.Errorf("--%s is %s, %s: %s", flag.Name, wire.Quote([]byte(invalid.GetValue())), problem, seeHelp(cmd))
}
