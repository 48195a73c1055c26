package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Whatever the value of a flag is, the error names both, and what to do.
func TestValuesOfFlags(t *testing.T) {
	for _, c := range commands(newCommand()) {
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			for _, value := range []string{"abc", "1.5x", "", "1e3x", `\q`, strings.Repeat("9", 400), strings.Repeat("x", 100_000)} {
				if err := c.Flags().Set(flag.Name, value); err != nil {
					checkFlagError(t, explainFlag(c, err).Error(), c.CommandPath()+" --help", flag.Name, flagTypes[flag.Value.Type()], value)
				}
			}
		})
	}
}

func checkFlagError(t *testing.T, got, help, name, want, value string) {
	t.Helper()
	large := value != "" && strings.Trim(value, "9") == ""
	if !strings.HasPrefix(got, "--"+name+" is "+strconv.Quote(value[:min(10, len(value))])[:1+min(10, len(value))]) || !strings.HasSuffix(got, ": see "+help) || len(got) > 400 ||
		strings.Contains(got, "strconv") || want != "" && !strings.Contains(got, "want "+want) && !large {
		t.Errorf("--%s %.20s: %q, want %s", name, value, got, want)
	}
}
