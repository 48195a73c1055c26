package command

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// commands returns all commands.
func commands() (all []*cobra.Command) {
	for _, c := range program.Command(nil).Commands() {
		if c.Runnable() {
			all = append(all, c)
		}
	}
	return all
}

// Every help text fits on a terminal, begins with the usage, and ends with the exit statuses.
func TestHelp(t *testing.T) {
	const maxWords = 1400
	words := 0
	for _, c := range commands() {
		var out bytes.Buffer
		c.Root().SetOut(&out)
		c.InitDefaultHelpFlag()
		noError(t, c.Help())
		help := out.String()
		words += len(strings.Fields(help))
		for line := range strings.Lines(help) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
		if n := strings.Count(help, "\n"); n > 50 || strings.Contains(help, "\n\n\n") {
			t.Errorf("%s: %d lines, or two empty lines", c.CommandPath(), n)
		}
		_, status, ok := strings.Cut(help, "\n\nExit status:\n  0  ")
		if !ok || !strings.Contains(status, "\n  2  usage error") || !strings.HasPrefix(help, "Usage: "+c.UseLine()+"\n\n") {
			t.Errorf("%s: no exit status or use line in the help:\n%s", c.CommandPath(), help)
		}
		for _, wrong := range regexp.MustCompile(`\bsst (fpr|plan|play|seen)\b`).FindAllString(help, -1) {
			t.Errorf("the help of %s names %s", c.CommandPath(), wrong)
		}
	}
	if words > maxWords {
		t.Errorf("all helps have %d words, want ≤ %d", words, maxWords)
	}
	readme, err := os.ReadFile("../../README.md")
	noError(t, err)
	for status, meaning := range program.Exit {
		if row := fmt.Sprintf("\n| %d | %s |\n", status, meaning); !strings.Contains(string(readme), row) {
			t.Errorf("the README has no row %s", row)
		}
	}
}

// callable has arguments that each command accepts. PATH is a file.
var callable = map[string]string{
	"build":      "-o out.filter PATH",
	"completion": "bash",
	"except":     "good.filter --never PATH --known-absent -o out.filter",
	"help":       "plan",
	"plan":       "-n 10 --bits 10",
	"play":       "-o out.html",
	"query":      "good.filter --keys-from PATH",
	"rates":      "-o out -n 20 --runs 2 --lookups 100",
	"seen":       "--state out.state PATH",
	"union":      "good.filter -o out.filter",
	"version":    "",
}

// hostile has characters that move a terminal's cursor, hide text or reverse its order, and invalid UTF-8.
const hostile = "x\x1b[31m\x1b]0;y\a\b\v\r\nsieve: forged\n\u0085\u009b2J\u202e\u200b\ufeff\x7f\xff\xc0y"

// wrongValues are values that few flags or none accept.
var wrongValues = []string{hostile, " ", "abc", "1.5x", "-1", "-0", "0", "1e999", "NaN", "Inf", `a"b`, strings.Repeat("9", 400), strings.Repeat("x", 100_000)}

// sieve accepts any value of a flag, or rejects it in one style and in its own words. Only plain text reaches the
// terminal.
func TestValuesOfFlags(t *testing.T) {
	scripttest.OnUnix(t)
	long.NoRace(t)
	t.Chdir(t.TempDir())
	writeInput(t, hostile[:1]+"keys\u202e", []string{"a\n", "b\n"})
	mustSieve(t, "build", "--filter", "table-bloom", "-o", "good.filter", hostile[:1]+"keys\u202e")
	for _, c := range commands() {
		line, ok := callable[c.Name()]
		if !ok {
			t.Errorf("sieve %s is not tried: add it to callable", c.Name())
			continue
		}
		args := append([]string{c.Name()}, strings.Fields(strings.ReplaceAll(line, "PATH", hostile[:1]+"keys\u202e"))...)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, value := range wrongValues {
				if c.Name() == "plan" && value == "0" {
					continue // it plans, for a second
				}
				checkPrinted(t, c, append(slices.Clone(args), "--"+f.Name+"="+value), !scripttest.IsName(f))
			}
		})
		checkPrinted(t, c, append(slices.Clone(args), "--"+hostile), true)
	}
}

// checkPrinted runs a command line, and checks what it prints. If usage is true, an error must be a usage error.
func checkPrinted(t *testing.T, c *cobra.Command, args []string, usage bool) {
	t.Helper()
	status, stdout, stderr := sieve(args...)
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "sieve: forged") || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("sieve %.100q prints %q", args, line)
		}
	}
	if found := scripttest.Foreign.FindString(stderr); found != "" {
		t.Errorf("sieve %.100q prints %q, which is not ours: %.300s", args, found, stderr)
	}
	lines := strings.SplitAfter(stderr, "\n")
	if status != cli.ExitUsage || !usage {
		return
	}
	if len(lines) != 4 || !strings.HasPrefix(lines[1], "usage: "+c.CommandPath()) || len(lines[0]) > 400 || stdout != "" {
		t.Errorf("sieve %.100q: %.600s", args, stderr)
	}
}
