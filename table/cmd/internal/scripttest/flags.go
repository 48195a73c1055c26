package scripttest

import (
	"regexp"
	"slices"

	"github.com/spf13/pflag"
)

// Foreign matches words of pflag, cobra, strconv, encoding and os, and internal names. No message may contain
// them.
var Foreign = regexp.MustCompile(`strconv|ParseInt|ParseFloat|ParseBool|ParseUint|Atoi|[Ii]nvalid|syntax|flag needs|shorthand|bad flag|unknown flag:|arg\(s\)|parse error|value out of range|bare |goroutine|\.tmp|%!|<nil>`)

// IsName reports whether the values of a flag are names. Any value except the empty one is valid then.
func IsName(f *pflag.Flag) bool {
	name, _ := pflag.UnquoteUsage(f)
	return slices.Contains([]string{"file", "directory", "NAME", "PAGE"}, name)
}
