package command

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// maxColumns is the width of a help on a terminal.
const maxColumns = 100

// allCommands returns the root and all commands below it, and help.
func allCommands() []*cobra.Command {
	root := newCommand(nil)
	return append(commands(root), root)
}

// Every help fits on a terminal, has no escape codes, and ends with the command's exit status.
func TestHelp(t *testing.T) {
	for _, c := range allCommands() {
		var out bytes.Buffer
		c.Root().SetOut(&out)
		c.InitDefaultHelpFlag()
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > maxColumns {
				t.Errorf("%s: %d columns, want ≤ %d: %s", c.CommandPath(), n, maxColumns, line)
			}
		}
		help, status, ok := strings.Cut(out.String(), "\n\nExit status:\n  0  ")
		if !ok || !strings.Contains(status, "\n  2  wrong usage") {
			t.Errorf("%s: no exit status in the help:\n%s", c.CommandPath(), &out)
		}
		if !strings.Contains(help, "\n\nUsage:\n  "+c.UseLine()+"\n") || strings.Contains(help, "\x1b") {
			t.Errorf("%s: no use line, or escape codes, in the help:\n%s", c.CommandPath(), &out)
		}
	}
}

// Each command that looks at files says what damage does. The README says what exit statuses mean.
func TestExitStatuses(t *testing.T) {
	for _, c := range allCommands() {
		if damaged := fmt.Sprintf("\n  %d  ", exitDamaged); (c.GroupID == "look" || c.GroupID == "repair") && !strings.Contains(exitStatusHelp(c), damaged) {
			t.Errorf("%s: the help has no exit status %d", c.CommandPath(), exitDamaged)
		}
	}
	readme, err := os.ReadFile(readmes[0])
	if err != nil {
		t.Fatal(err)
	}
	for status, meaning := range exitMeanings {
		if row := fmt.Sprintf("\n| %d | %s |\n", status, meaning); !strings.Contains(string(readme), row) {
			t.Errorf("the README has no row %s", row)
		}
	}
}

// sst help lists every command in a group. A command that is named is the only one that is made.
func TestGroups(t *testing.T) {
	status, help, _ := sst("help")
	if status != 0 {
		t.Errorf("status %d", status)
	}
	for _, c := range newCommand(nil).Commands() {
		if c.GroupID == "" || !strings.Contains(help, "\n  "+c.Name()+" ") {
			t.Errorf("%s is in no group of the help", c.Name())
		}
		if made := newCommand([]string{c.Name()}).Commands(); c.Name() != "help" && (len(made) != 2 || made[0].Name() != c.Name() && made[1].Name() != c.Name()) {
			t.Errorf("sst %s makes the commands %v", c.Name(), made)
		}
	}
}

// sst version begins as sst --version does, and adds what a bug report needs.
func TestVersion(t *testing.T) {
	_, short, _ := sst("--version")
	status, long, stderr := sst("version")
	rest, ok := strings.CutPrefix(long, short)
	if system := strings.Fields(rest); status != 0 || stderr != "" || !ok || len(system) != 2 || !strings.HasPrefix(system[0], "go") || strings.Count(system[1], "/") != 1 {
		t.Errorf("status %d, %q, %q", status, long, stderr)
	}
}
