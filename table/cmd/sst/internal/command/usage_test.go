package command

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// callable are arguments that each command accepts, but cannot write to. A mistake in another argument is reported
// first.
var callable = map[string]string{
	"build":    "-o gone/out.ldb in.tsv",
	"convert":  "t.ldb -o gone/out.ldb",
	"diff":     "t.ldb t.ldb",
	"get":      "t.ldb a",
	"layout":   "t.ldb",
	"manifest": "t.ldb",
	"merge":    "t.ldb -o gone/out.ldb",
	"report":   "t.ldb -o gone/out.html",
	"repair":   "t.ldb -o gone/out.ldb",
	"scan":     "t.ldb",
	"stats":    "t.ldb",
	"sweep":    "missing",
	"verify":   "t.ldb",
}

// wrongValues are values that no flag accepts, or only a few.
var wrongValues = []string{"", " ", "abc", "1.5x", "-1", "-7", "0", "1e999", "NaN", "Inf", "1e3x", `a"b`, `\q`, "9223372036854775808", strings.Repeat("9", 400), strings.Repeat("x", 100_000)}

// writeUsable writes the files of callable to a new directory, and changes to it.
func writeUsable(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	writeFile(t, "in.tsv", "a\t1\n")
	mustSST(t, "build", "-o", "t.ldb", "in.tsv")
	mustSST(t, "build", "-o", "t.filter", "--filter-only", "--table-filter", "table-bloom", "--input-format", "keys", "in.tsv")
	return dir
}

// A command that rejects the value of a flag says so in one style and in its own words. No flag accepts -0, or a
// number that rounds to it, since 0 has a special meaning where it is allowed.
func TestValuesOfFlags(t *testing.T) {
	scripttest.OnUnix(t)
	long.NoRace(t)
	writeUsable(t)
	refused := 0
	for _, c := range commands(program.Command(nil)) {
		line := strings.Fields(callable[c.Name()])
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, value := range wrongValues {
				if value != "" && scripttest.IsName(f) {
					continue
				}
				args := slices.Concat([]string{c.Name()}, line, []string{"--" + f.Name + "=" + value})
				if checkRefusal(t, c, args) {
					refused++
				}
			}
			if f.NoOptDefVal == "" {
				checkRefusal(t, c, slices.Concat([]string{c.Name()}, line, []string{"--" + f.Name}))
			}
			if !isNumeric(f) {
				return
			}
			for _, value := range []string{"-0", "-0.0", "-1e-400"} {
				args := slices.Concat([]string{c.Name()}, line, []string{"--" + f.Name + "=" + value})
				if !checkRefusal(t, c, args) {
					t.Errorf("sst %q is accepted", args)
				}
			}
		})
	}
	if refused < 500 {
		t.Errorf("%d values are refused", refused)
	}
}

// So does a command with a wrong number of arguments, or an unknown flag.
func TestNumbersOfArguments(t *testing.T) {
	writeUsable(t)
	for _, c := range allCommands() {
		path := strings.Fields(c.CommandPath())[1:]
		for n := range 5 {
			for _, arg := range []string{"t.ldb", "", "missing"} {
				args := slices.Repeat([]string{arg}, n)
				if c.ValidateArgs(args) != nil && !checkRefusal(t, c, slices.Concat(path, args)) {
					t.Errorf("sst %v %q is accepted", path, args)
				}
			}
		}
		for _, wrong := range []string{"--nonsense", "-ö", "-%", "--=x", "---", "--help=maybe", "-hhö"} {
			if !checkRefusal(t, c, slices.Concat(path, []string{wrong})) {
				t.Errorf("sst %v %s is accepted", path, wrong)
			}
		}
	}
}

// checkRefusal runs a command line. If the usage is wrong, it checks that the message has the mistake, the command's
// usage, and where to find help. A missing file is not wrong usage.
func checkRefusal(t *testing.T, c *cobra.Command, args []string) (refused bool) {
	t.Helper()
	status, _, stderr := sst(args...)
	if found := scripttest.Foreign.FindString(strings.ReplaceAll(stderr, "sst completion", "")); found != "" {
		t.Errorf("sst %.200q prints %q, which is not ours: %.400s", args, found, stderr)
	}
	lines := strings.SplitAfter(stderr, "\n")
	if status != cli.ExitUsage || strings.Contains(stderr, "no such file") {
		return false
	}
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "sst: ") || len(lines[0]) > 400 ||
		!strings.HasPrefix(lines[1], "usage: "+c.CommandPath()) || lines[2] != "help:  "+c.CommandPath()+" --help\n" {
		t.Errorf("sst %.200q: %.600s", args, stderr)
	}
	return true
}

// Messages name files as they were given, in quotes if need be, and never temporary ones.
func TestTemporaryNames(t *testing.T) {
	scripttest.OnUnix(t)
	writeUsable(t)
	checkSST(t, cli.ExitUsage, `sst: open " in.tsv": no such file or directory`, "build", "-o", "out.ldb", " in.tsv")
	dir := filepath.Join(t.TempDir(), "gone")
	for _, args := range [][]string{
		{"build", "-o", "gone/out.ldb", "in.tsv"}, {"convert", "t.ldb", "-o", "gone/out.ldb"}, {"merge", "t.ldb", "-o", "gone/out.ldb"}, {"merge", "t.ldb", "-o", "gone/out/"}, {"merge", "t.ldb", "--database", "-o", "gone/out"}, {"repair", "t.ldb", "-o", "gone/out.ldb"},
		{"build", "-o", "out.ldb", "--temp-dir", dir, "in.tsv"}, {"build", "-o", "out/", "--temp-dir", dir, "in.tsv"},
		{"manifest", "t.ldb", "-o", "gone/set.jsonl"},
	} {
		status, _, stderr := sst(args...)
		if regexp.MustCompile(`\.tmp|sievetable-|sst-`).MatchString(stderr) || status == 0 && !slices.Contains(args, dir) {
			t.Errorf("sst %q: status %d, %s", args, status, stderr)
		}
	}
}

// isNumeric reports whether the values of a flag are numbers, as its type, or the text for its value, says.
func isNumeric(f *pflag.Flag) bool {
	name, _ := pflag.UnquoteUsage(f)
	return slices.Contains([]string{"int", "uint64", "float64"}, f.Value.Type()) || slices.Contains([]string{"keys", "rate", "price", "size", "bits"}, name)
}
