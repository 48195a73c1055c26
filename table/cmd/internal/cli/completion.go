package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/printable"
)

// addCompletions lets shells complete the arguments and flags of all commands. A command without a
// ValidArgsFunction takes no files.
func addCompletions(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, done := cmd.GetFlagCompletionFunc(f.Name); !done && f.NoOptDefVal == "" {
				mustComplete(cmd, f.Name, flagCompletion(f))
			}
		})
	}
}

// AnyFile completes arguments of a command that takes any file.
var AnyFile = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)

// Files completes arguments of a command that takes at most that many files, or any number if it is
// 0. The patterns are those of their names. What remains are keys, or nothing.
func Files(most int, patterns ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return patterns, cobra.ShellCompDirectiveFilterFileExt
	}
}

// flagCompletion completes the value of a flag by what its usage calls the value. Numbers and
// keys are not completed.
func flagCompletion(f *pflag.Flag) cobra.CompletionFunc {
	switch what, _ := pflag.UnquoteUsage(f); what {
	case "file", "NAME":
		return AnyFile
	case "PAGE":
		return cobra.FixedCompletions([]string{"*.html"}, cobra.ShellCompDirectiveFilterFileExt)
	case "directory":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	}
	return cobra.NoFileCompletions
}

// CompleteList lets shells complete the last of a flag's values with commas in between.
func CompleteList(cmd *cobra.Command, flag string, values ...string) {
	mustComplete(cmd, flag, func(_ *cobra.Command, _ []string, typed string) (all []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		given := strings.Split(before, ",")
		for _, v := range values {
			if !slices.Contains(given, v) {
				all = append(all, before+v)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// complete lets shells complete the values of a flag.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	mustComplete(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func mustComplete(cmd *cobra.Command, flag string, with cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, with); err != nil {
		panic(err) // there is no such flag
	}
}

// printableArgs returns the arguments that a shell asks cobra to complete. cobra prints them.
func printableArgs(args []string) []string {
	plain := make([]string, len(args))
	for i, arg := range args {
		plain[i] = printable.String(arg)
	}
	return plain
}

// describeBriefly leaves the quotes out of the descriptions of flags, for a shell that lists them beside their names.
func describeBriefly(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	}
}
