package command

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// Limits of help texts, so that they fit on a terminal and are read.
const (
	maxColumns = 100
	maxLines   = 50
	maxWords   = 4600 // in all help texts together
)

// allCommands returns the root and all commands below it, and help.
func allCommands() []*cobra.Command {
	root := program.Command(nil)
	return append(commands(root), root)
}

// helpOf returns the help text of a command.
func helpOf(t *testing.T, c *cobra.Command) string {
	t.Helper()
	var out bytes.Buffer
	c.Root().SetOut(&out)
	c.InitDefaultHelpFlag()
	noError(t, c.Help())
	return out.String()
}

// Every help text fits on a terminal and has no escape codes. The help of a command begins with its usage and ends
// with its exit statuses.
func TestHelp(t *testing.T) {
	words := 0
	for _, c := range allCommands() {
		help := helpOf(t, c)
		words += len(strings.Fields(help))
		for line := range strings.Lines(help) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > maxColumns {
				t.Errorf("%s: %d columns, want ≤ %d: %s", c.CommandPath(), n, maxColumns, line)
			}
		}
		if n := strings.Count(help, "\n"); n > maxLines && c.HasParent() {
			t.Errorf("%s: %d lines, want ≤ %d", c.CommandPath(), n, maxLines)
		}
		if strings.Contains(help, "\x1b") || strings.Contains(help, "\n\n\n") {
			t.Errorf("%s: escape codes or two empty lines in the help:\n%s", c.CommandPath(), help)
		}
		if topics[c.Name()] != nil {
			continue
		}
		_, status, ok := strings.Cut(help, "\n\nExit status:\n  0  ")
		if !ok || !strings.Contains(status, "\n  2  usage error") || !strings.HasPrefix(help, "Usage: "+c.UseLine()+"\n\n") {
			t.Errorf("%s: no exit status or use line in the help:\n%s", c.CommandPath(), help)
		}
	}
	if words > maxWords {
		t.Errorf("all helps have %d words, want ≤ %d", words, maxWords)
	}
}

// A topic is printed unchanged, with or without the word help.
func TestTopics(t *testing.T) {
	for name, command := range topics {
		want := command().Long
		for _, args := range [][]string{{"help", name}, {name}, {name, "--help"}} {
			if status, out, stderr := sst(args...); status != 0 || stderr != "" || strings.TrimSpace(out) != strings.TrimSpace(want) {
				t.Errorf("sst %v: status %d, %s%s", args, status, out, stderr)
			}
		}
	}
}

// Topics that help texts refer to exist.
func TestHelpsNameTopics(t *testing.T) {
	names := regexp.MustCompile(`sst\s+help\s+([a-z-]+)((?:,\s+[a-z-]+)*(?:\s+and\s+[a-z-]+)?)`)
	for _, c := range allCommands() {
		for _, found := range names.FindAllStringSubmatch(helpOf(t, c), -1) {
			for _, name := range regexp.MustCompile(`[a-z-]+`).FindAllString(found[1]+strings.ReplaceAll(found[2], " and ", " "), -1) {
				if status, _, stderr := sst("help", name); status != 0 {
					t.Errorf("the help of %s names %s: %s", c.CommandPath(), found[0], stderr)
				}
			}
		}
	}
}

// Each command that reads files has an exit status for damage in its help. The README explains all exit statuses.
func TestExitStatuses(t *testing.T) {
	for _, c := range allCommands() {
		if damaged := fmt.Sprintf("\n  %d  ", cli.ExitDamaged); (c.GroupID == "look" || c.GroupID == "repair") && !strings.Contains(cli.StatusHelp(c), damaged) {
			t.Errorf("%s: the help has no exit status %d", c.CommandPath(), cli.ExitDamaged)
		}
	}
	readme := readFile(t, "../../README.md")
	for status, meaning := range exitMeanings {
		if row := fmt.Sprintf("\n| %d | %s |\n", status, meaning); !strings.Contains(string(readme), row) {
			t.Errorf("the README has no row %s", row)
		}
	}
}

// sst help lists every command in a group. If the arguments name a command, only that one is constructed, besides
// help.
func TestGroups(t *testing.T) {
	status, help, _ := sst("help")
	if status != 0 {
		t.Errorf("status %d", status)
	}
	for _, c := range program.Command(nil).Commands() {
		if c.GroupID == "" || !strings.Contains(help, "\n  "+c.Name()+" ") {
			t.Errorf("%s is in no group of the help", c.Name())
		}
		if made := program.Command([]string{c.Name()}).Commands(); c.Name() != "help" && (len(made) != 2 || made[0].Name() != c.Name() && made[1].Name() != c.Name()) {
			t.Errorf("sst %s makes the commands %v", c.Name(), made)
		}
	}
}

// sst version begins like sst --version, and adds what a bug report needs.
func TestVersion(t *testing.T) {
	_, short, _ := sst("--version")
	status, long, stderr := sst("version")
	rest, ok := strings.CutPrefix(long, short)
	if system := strings.Fields(rest); status != 0 || stderr != "" || !ok || len(system) != 2 || !strings.HasPrefix(system[0], "go") || strings.Count(system[1], "/") != 1 {
		t.Errorf("status %d, %q, %q", status, long, stderr)
	}
}

// The descriptions that shells list beside names are short: they have no backticks, and fit into a line of 80
// columns.
func TestDescriptionsOfCompletions(t *testing.T) {
	described := 0
	for _, line := range [][]string{{""}, {"build", "--"}, {"convert", "--"}, {"diff", "--"}, {"get", "--"}, {"report", "--"}, {"scan", "--"}, {"stats", "--"}} {
		_, out, _ := sst(append([]string{"__complete"}, line...)...)
		for offer := range strings.Lines(out) {
			name, about, ok := strings.Cut(strings.TrimSuffix(offer, "\n"), "\t")
			if !ok {
				continue
			}
			described++
			columns := len("--entries-per-table  ()") + utf8.RuneCountInString(about)
			if !strings.HasPrefix(name, "--") {
				columns = len("completion  ()") + utf8.RuneCountInString(about)
			}
			if columns > 80 || about == "" || strings.ContainsAny(about, "`") || strings.HasSuffix(about, " ") {
				t.Errorf("%s: %d columns: %q", name, columns, about)
			}
		}
	}
	if described < 80 {
		t.Errorf("%d descriptions", described)
	}
}
