package cli

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/wire"
)

// didYouMean asks whether one of the names was meant. It is the end of a message. Each name
// gets the prefix.
func didYouMean(prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": did you mean " + prefix + strings.Join(names, " or "+prefix) + "?"
}

// nearestFlags returns the names of flags that may have been meant by a wrong one.
func nearestFlags(flags *pflag.FlagSet, wrong string) (names []string) {
	wrong, _, _ = strings.Cut(wrong, "=")
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && isNear(wrong, f.Name) {
			names = append(names, f.Name)
		}
	})
	slices.Sort(names)
	return names
}

// isNear reports whether name may have been meant by wrong: it begins so, or at most every
// third letter, and no more than two, differ.
func isNear(wrong, name string) bool {
	const longest = 64 // bytes of a name
	if len(wrong) < 2 || len(wrong) > longest {
		return false
	}
	return strings.HasPrefix(name, wrong) || distance(wrong, name) <= min(2, len(wrong)/3)
}

// distance returns how many letters must be added, removed or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// explainUnknownCommand puts cobra's error for an unknown command into the words of other
// errors, and adds the names of similar commands. It leaves other errors as they are.
func explainUnknownCommand(above *cobra.Command, err error) error {
	rest, ok := strings.CutPrefix(err.Error(), "unknown command ")
	if !ok || errors.As(err, new(UsageError)) {
		return err
	}
	quoted, _ := strconv.QuotedPrefix(rest)
	wrong, _ := strconv.Unquote(quoted)
	return unknownCommand(above, wrong)
}

func unknownCommand(above *cobra.Command, wrong string) error {
	suggestion := ""
	if wrong != "" { // which all names start with
		suggestion = didYouMean(above.CommandPath()+" ", slices.Sorted(slices.Values(above.SuggestionsFor(wrong))))
	}
	return UsageErrorf("unknown command %s%s", wire.Quote([]byte(wrong)), cmp.Or(suggestion, ": to list the commands, use "+above.Root().Name()+" help"))
}
