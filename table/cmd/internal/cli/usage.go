package cli

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A UsageError is a mistake in the arguments or flags of a command. sst prints it together with
// how the command is used.
type UsageError struct{ cause error }

// UsageErrorf returns a UsageError with a message as fmt.Errorf formats it. The message says what
// was wrong and what is expected.
func UsageErrorf(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

func (e UsageError) Error() string { return e.cause.Error() }
func (e UsageError) Unwrap() error { return e.cause }

// Unlimited is a number of arguments without limit.
const Unlimited = 1 << 30

// Arguments checks the number of arguments. what describes them for the error. The first
// names arguments are names of files.
func Arguments(what string, least, most, names int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return UsageErrorf("got %s, want %s", text.Count(uint64(len(args)), "argument"), numberWanted(what, least, most))
		}
		for _, arg := range args[:min(names, len(args))] {
			if arg == "" {
				return UsageErrorf("an argument is empty, want the name of a file or a directory")
			}
			if err := checkName(arg); err != nil {
				return err
			}
		}
		return nil
	}
}

func numberWanted(what string, least, most int) string {
	switch {
	case most == 0:
		return what
	case least == most:
		return fmt.Sprintf("%d: %s", least, what)
	case least == 0:
		return fmt.Sprintf("≤ %d: %s", most, what)
	}
	return fmt.Sprintf("≥ %d: %s", least, what)
}

// maxName is the longest path that messages print whole, in bytes. Linux opens none of 4096 bytes, and Windows
// none of 32 KiB.
func maxName() int {
	if runtime.GOOS == "windows" {
		return 32 << 10
	}
	return 4 << 10
}

// checkName returns an error for a path that is too long for any file. Messages about the file would print
// all of it.
func checkName(path string) error {
	if len(path) <= maxName() {
		return nil
	}
	return UsageErrorf("%s is too long for the name of a file: the limit is %d bytes", wire.Quote([]byte(path)), maxName())
}

// checkFlags returns an error for an empty flag, or one that is the name of no file.
func checkFlags(cmd *cobra.Command) error {
	err := cmp.Or(checkEmptyFlags(cmd), checkNeeds(cmd))
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if name, _ := pflag.UnquoteUsage(f); err == nil && slices.Contains(fileNames, name) {
			err = checkName(f.Value.String())
		}
	})
	return err
}

// fileNames are what the usage of a flag calls its value if that is the name of a file.
var fileNames = []string{"file", "directory", "NAME", "PAGE"}

// checkEmptyFlags returns an error for a flag that is given without text, such as with an
// unset variable of a shell: the command would do as if it were not given. For -o= pflag sets "=".
// Keys can be empty.
func checkEmptyFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.String() == "" || f.Shorthand != "" && f.Value.String() == "="
		if err == nil && f.Value.Type() == "string" && empty {
			err = UsageErrorf("--%s is empty%s", f.Name, wanted(f))
		}
	})
	return err
}

// flagTypes describes the values of flags, by the type of the flag.
var flagTypes = map[string]string{
	"int": "a whole number", "uint64": "a whole number ≥ 0", "float64": "a number",
	"bool": "true or false", "duration": "a time such as 90m or 24h", "intSlice": "whole numbers, separated by commas", "stringSlice": "words, separated by commas",
}

// wanted describes the values of a flag. It is the end of a message, "" if the help must do.
func wanted(f *pflag.Flag) string {
	if want, ok := flagTypes[f.Value.Type()]; ok {
		return ", want " + want
	}
	switch name, _ := pflag.UnquoteUsage(f); {
	case strings.HasSuffix(name, "s"):
		return ", want a number of " + name
	case name != "string":
		return ", want a " + name
	}
	return ""
}

// explainFlag says what is wrong with a flag, in our words instead of those of pflag, strconv
// and encoding/csv.
func explainFlag(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		lacking *pflag.ValueRequiredError
		syntax  *pflag.InvalidSyntaxError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		return explainUnknownFlag(cmd, unknown)
	case errors.As(err, &lacking):
		return UsageErrorf("%s has no value%s", dashed(lacking.GetSpecifiedName(), lacking.GetSpecifiedShortnames()), wanted(lacking.GetFlag()))
	case errors.As(err, &syntax):
		return UsageErrorf("%s is not a flag, want --NAME or --NAME=VALUE", wire.Quote([]byte(syntax.GetSpecifiedFlag())))
	case errors.As(err, &invalid):
		return explainValue(invalid)
	}
	return UsageErrorf("%w", err)
}

// explainExclusive puts cobra's error for flags that exclude each other into the words of other errors.
func explainExclusive(err error) error {
	_, set, ok := strings.Cut(err.Error(), "] are set none of the others can be; [")
	if !ok {
		return err
	}
	names, _, _ := strings.Cut(set, "]")
	return UsageErrorf("--%s are both given, want one of them", strings.Join(strings.Fields(names), " and --"))
}

// dashed returns a flag as it was given: a letter in a group of them, or a name.
func dashed(name, letters string) string {
	if letters != "" {
		return "-" + name
	}
	return "--" + name
}

// asGiven puts the flag at the start of a message as it was given: -n instead of --keys.
func asGiven(cmd *cobra.Command, args []string, err error) error {
	name, rest, _ := strings.Cut(err.Error(), " ")
	f := cmd.Flags().Lookup(strings.TrimPrefix(name, "--"))
	if len(name) == 2 {
		f = cmd.Flags().ShorthandLookup(name[1:])
	}
	var u UsageError
	if f == nil || f.Shorthand == "" || name[0] != '-' || !errors.As(err, &u) || u.Error() != err.Error() {
		return err
	}
	long, short := "--"+f.Name, "-"+f.Shorthand
	isLong := func(arg string) bool { return arg == long || strings.HasPrefix(arg, long+"=") }
	isShort := func(arg string) bool {
		return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, f.Shorthand)
	}
	switch {
	case slices.ContainsFunc(args, isLong):
		name = long
	case slices.ContainsFunc(args, isShort):
		name = short
	}
	return UsageErrorf("%s %s", name, rest)
}

func explainValue(err *pflag.InvalidValueError) error {
	flag := err.GetFlag()
	problem := ", " + fmt.Sprint(err.Unwrap())
	if _, ok := flagTypes[flag.Value.Type()]; ok {
		problem = wanted(flag)
	}
	if errors.Is(err, strconv.ErrRange) && flag.Value.Type() != "float64" {
		problem += " of at most 18 digits"
	}
	return UsageErrorf("--%s is %s%s", flag.Name, wire.Quote([]byte(err.GetValue())), problem)
}

func explainUnknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name, letters := err.GetSpecifiedName(), err.GetSpecifiedShortnames()
	if letters != "" {
		name = name[:1] // pflag stops at the first byte that is no flag
	}
	given, like := dashed(name, letters), name
	if len(letters) > 1 { // perhaps a name behind a single dash
		given, like = "-"+letters, letters
	}
	return UsageErrorf("unknown flag %s%s", wire.Quote([]byte(given)), didYouMean("--", nearestFlags(cmd.Flags(), like)))
}

// A BytesFlag is the value of a flag, with escapes. nil means that the flag is not given.
type BytesFlag []byte

func (b *BytesFlag) String() string { return printable.Escape(*b) }
func (b *BytesFlag) Type() string   { return "key" }

func (b *BytesFlag) Set(s string) error {
	v, err := printable.Unescape(s)
	*b = append([]byte{}, v...)
	return err
}
