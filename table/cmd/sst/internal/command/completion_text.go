package command

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The most columns of the descriptions of commands and flags. Beside the longest name they fit on
// a line of 80 columns.
const (
	maxAboutCommand = 64
	maxAboutFlag    = 54
)

// describeBriefly shortens the descriptions of commands and flags, for a shell that lists them
// beside their names.
func describeBriefly(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		cmd.Short = brief(cmd.Short, maxAboutCommand)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, f.Usage = pflag.UnquoteUsage(f)
			f.Usage = brief(f.Usage, maxAboutFlag)
		})
	}
}

// clauseEnd is what the first clause of a description ends with.
var clauseEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.;:] | \(`) })

// brief returns a description if it has at most that many columns, or its first clause, or of that
// the words that fit and an ellipsis.
func brief(s string, most int) string {
	if end := clauseEnd().FindStringIndex(s); end != nil && utf8.RuneCountInString(s) > most {
		s = s[:end[0]]
	}
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	s = string([]rune(s)[:most-1])
	return s[:strings.LastIndex(s, " ")+1] + "…"
}
