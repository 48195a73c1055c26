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

	"github.com/sievetable/sievetable/internal/format"
)

// A UsageError is a mistake in the arguments or flags of a command. sst prints it together with the command's
// usage.
type UsageError struct{ error }

// UsageErrorf returns a UsageError with a message formatted as by fmt.Errorf. The message says what is wrong and
// what is expected.
func UsageErrorf(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

func (e UsageError) Unwrap() error { return e.error }

// Unlimited, as the maximum of Arguments, sets no limit.
const Unlimited = 1 << 30

// Arguments returns a check for the number of arguments. what names the required ones, such as "SOURCE and KEY".
// The first names arguments are file names.
func Arguments(what string, least, most, names int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return UsageErrorf("missing %s", strings.Join(strings.Split(what, " and ")[len(args):], " and "))
		case len(args) > most:
			return UsageErrorf("unexpected argument %s", format.Quote([]byte(args[most])))
		}
		for _, arg := range args[:min(names, len(args))] {
			if arg == "" {
				return UsageErrorf("empty argument: name a file or a directory")
			}
			if err := checkName(arg); err != nil {
				return err
			}
		}
		return nil
	}
}

// maxName is the length in bytes of the longest path that messages print in full. Linux cannot open paths of 4096
// bytes, nor Windows paths of 32 KiB.
func maxName() int {
	if runtime.GOOS == "windows" {
		return 32 << 10
	}
	return 4 << 10
}

// checkName returns an error for a path that is too long for any file. Otherwise messages would print it in full.
func checkName(path string) error {
	if len(path) <= maxName() {
		return nil
	}
	return UsageErrorf("file name %s is too long: the limit is %d bytes", format.Quote([]byte(path)), maxName())
}

// needsAnnotation is the flag annotation that names the flag it needs.
const needsAnnotation = "needs"

// Needs makes it a usage error to give a flag without another one.
func Needs(cmd *cobra.Command, flag, needed string) {
	must(cmd.Flags().SetAnnotation(flag, needsAnnotation, []string{needed}))
}

// Exclude makes it a usage error to give a flag together with one of others.
func Exclude(cmd *cobra.Command, flag string, others ...string) {
	for _, other := range others {
		cmd.MarkFlagsMutuallyExclusive(flag, other)
	}
}

// checkFlags returns an error for a flag that is empty, lacks the flag that it needs, or has a file name that is
// too long.
func checkFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) { err = cmp.Or(err, checkFlag(cmd, f)) })
	return err
}

func checkFlag(cmd *cobra.Command, f *pflag.Flag) error {
	value := f.Value.String()
	if f.Value.Type() == "string" && isEmpty(f, value) { // keys can be empty
		return UsageErrorf("--%s is empty%s", f.Name, takes(f))
	}
	for _, needed := range f.Annotations[needsAnnotation] {
		if !cmd.Flags().Changed(needed) {
			return UsageErrorf("--%s needs --%s", f.Name, needed)
		}
	}
	if name, _ := pflag.UnquoteUsage(f); completions[name] != nil { // the value is a file name
		return checkName(value)
	}
	return nil
}

// isEmpty reports whether a value is empty, for example from an unset shell variable: the command would behave as
// if the flag were not given. For -o= pflag sets "=".
func isEmpty(f *pflag.Flag, value string) bool {
	return value == "" || f.Shorthand != "" && value == "="
}

// flagTypes describes flag values by their types.
var flagTypes = map[string]string{
	"int": "a whole number", "uint64": "a whole number ≥ 0", "float64": "a number",
	"bool": "true or false", "duration": "a time such as 90m or 24h", "intSlice": "whole numbers, separated by commas", "stringSlice": "words, separated by commas",
}

// takes describes the values of a flag, as the end of a message. It returns "" if there is no short description.
func takes(f *pflag.Flag) string {
	if values, ok := flagTypes[f.Value.Type()]; ok {
		return ": it takes " + values
	}
	switch name, _ := pflag.UnquoteUsage(f); {
	case strings.HasSuffix(name, "s"):
		return ": it takes a number of " + name
	case name != "string":
		return ": it takes a " + name
	}
	return ""
}

// explain rewords errors of cobra and pflag, and names a flag as it was given.
func explain(cmd *cobra.Command, args []string, err error) error {
	var (
		unknown *pflag.NotExistError
		syntax  *pflag.InvalidSyntaxError
		lacking *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		wrong   string
	)
	switch {
	case errors.As(err, new(UsageError)):
		return asGiven(cmd, args, err)
	case errors.As(err, &unknown):
		return explainUnknownFlag(cmd, unknown)
	case errors.As(err, &syntax):
		return UsageErrorf("%s is not a flag: write --NAME or --NAME=VALUE", format.Quote([]byte(syntax.GetSpecifiedFlag())))
	case errors.As(err, &lacking):
		return asGiven(cmd, args, UsageErrorf("--%s has no value%s", lacking.GetFlag().Name, takes(lacking.GetFlag())))
	case errors.As(err, &invalid):
		return asGiven(cmd, args, explainValue(invalid))
	}
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q", &wrong); n == 1 {
		return unknownCommand(cmd.Root(), wrong)
	}
	if _, set, ok := strings.Cut(err.Error(), "] are set none of the others can be; ["); ok {
		names, _, _ := strings.Cut(set, "]")
		return UsageErrorf("--%s cannot be combined", strings.Join(strings.Fields(names), " and --"))
	}
	return err
}

// unknownCommand returns the error for a command that root does not have, with the names of similar ones.
func unknownCommand(root *cobra.Command, wrong string) error {
	suggestion := ""
	if wrong != "" { // every name starts with ""
		suggestion = didYouMean(root.Name()+" ", root.SuggestionsFor(wrong))
	}
	return UsageErrorf("unknown command %s%s", format.Quote([]byte(wrong)), cmp.Or(suggestion, ": for a list, run "+root.Name()+" help"))
}

// didYouMean returns a suggestion of the names, each with the prefix, as the end of a message.
func didYouMean(prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return ": did you mean " + prefix + strings.Join(names, " or "+prefix) + "?"
}

// asGiven rewrites the flag at the start of a message to the form in which it was given: -n instead of --keys.
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
	for _, arg := range args {
		long, _, _ := strings.Cut(arg, "=")
		if long == "--"+f.Name {
			name = long
			break
		}
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, f.Shorthand) {
			name = "-" + f.Shorthand
		}
	}
	return UsageErrorf("%s %s", name, rest)
}

func explainValue(err *pflag.InvalidValueError) error {
	flag, given := err.GetFlag(), format.Quote([]byte(err.GetValue()))
	if isEmpty(flag, err.GetValue()) {
		given = "empty"
	}
	problem := err.Unwrap().Error()
	if values, ok := flagTypes[flag.Value.Type()]; ok {
		problem = "not " + values
	}
	if errors.Is(err, strconv.ErrRange) && flag.Value.Type() != "float64" {
		problem += " of at most 18 digits"
	}
	return UsageErrorf("--%s is %s, %s", flag.Name, given, problem)
}

// CheckRange returns an error if n, the value of a flag, is < least or > most.
func CheckRange(flag string, n, least, most int) error {
	if n < least || n > most {
		return UsageErrorf("%s is %d, not %d to %d", flag, n, least, most)
	}
	return nil
}

func explainUnknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name, letters := err.GetSpecifiedName(), err.GetSpecifiedShortnames()
	given := "--" + name
	switch {
	case len(letters) > 1: // perhaps a name after a single dash
		given, name = "-"+letters, letters
	case letters != "":
		given = "-" + letters
	}
	return UsageErrorf("unknown flag %s%s", format.Quote([]byte(given)), didYouMean("--", nearestFlags(cmd.Flags(), name)))
}

// nearestFlags returns the names of flags that a wrong name may have meant: they start with it, or differ from it
// in at most a third of its letters, and at most two. cobra suggests only commands, so each flag becomes one.
func nearestFlags(flags *pflag.FlagSet, wrong string) []string {
	const longest = 64 // bytes of a name
	if wrong, _, _ = strings.Cut(wrong, "="); len(wrong) < 2 || len(wrong) > longest {
		return nil
	}
	root := &cobra.Command{SuggestionsMinimumDistance: min(2, len(wrong)/3)}
	flags.VisitAll(func(f *pflag.Flag) {
		root.AddCommand(&cobra.Command{Use: f.Name, Hidden: f.Hidden, RunE: printHelp})
	})
	return root.SuggestionsFor(wrong)
}
