package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// needsAnnotation is the name of a flag's annotation with the flag that it needs.
const needsAnnotation = "needs"

// Needs makes it a usage error to give a flag without another one.
func Needs(cmd *cobra.Command, flag, needed string) {
	if err := cmd.Flags().SetAnnotation(flag, needsAnnotation, []string{needed}); err != nil {
		panic(err) // there is no such flag
	}
}

// Exclude makes it a usage error to give a flag together with one of others.
func Exclude(cmd *cobra.Command, flag string, others ...string) {
	for _, other := range others {
		cmd.MarkFlagsMutuallyExclusive(flag, other)
	}
}

// checkNeeds returns an error for a flag without the one that it needs.
func checkNeeds(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, needed := range f.Annotations[needsAnnotation] {
			if err == nil && !cmd.Flags().Changed(needed) {
				err = UsageErrorf("--%s needs --%s", f.Name, needed)
			}
		}
	})
	return err
}
