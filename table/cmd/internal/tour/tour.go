// Package tour runs the commands of a README in a test, and compares their output.
package tour

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/golden"
)

// script matches a block of the README that is a file. Its first line is the file's name.
var script = regexp.MustCompile("(?ms)^```sh\n# ([a-z.]+)\n(.*?)^```$")

// console matches a block of the README with commands, each after "$ ", and their output.
var console = regexp.MustCompile("(?s)```console\n(.*?)```\n")

// took matches times, which differ from run to run.
var took = regexp.MustCompile(`in [0-9.]+(ns|µs|ms)`)

// continues matches a command that continues on the next line.
var continues = regexp.MustCompile(`(\\|&&)\n$`)

// setsState matches a shell command that also affects later commands.
var setsState = regexp.MustCompile(`^(set |export |[a-z]+=)`)

// Check runs the commands of a README, one after the other in one directory, and compares their output. Programs in
// the directory bin precede those in PATH. instead contains pairs of old and new strings that are replaced in
// commands before they run. With -update, the README is rewritten.
func Check(t *testing.T, readme, bin string, instead ...string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	errtest.NoError(t, err)
	r := &run{dir: t.TempDir(), bin: bin, instead: strings.NewReplacer(instead...)}
	for _, file := range script.FindAllSubmatch(text, -1) {
		errtest.NoError(t, os.WriteFile(filepath.Join(r.dir, string(file[1])), file[2], 0o666))
	}
	got := console.ReplaceAllFunc(text, func(block []byte) []byte { return r.console(t, block) })
	if r.commands == 0 {
		t.Fatalf("no commands in console blocks of %s", readme)
	}
	if diff := cmp.Diff(took.ReplaceAllString(string(text), "in …"),
		took.ReplaceAllString(string(got), "in …")); diff != "" {
		if *golden.Update {
			err = os.WriteFile(readme, got, 0o666)
		}
		t.Errorf("%s (-README +printed), %v:\n%s", readme, err, diff)
	}
}

// A run runs the commands of a README.
type run struct {
	dir, bin string
	instead  *strings.Replacer
	state    string // the commands that affect all later ones
	commands int
}

// console returns the block with the current output of its commands.
func (r *run) console(t *testing.T, block []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("```console\n")
	command := ""
	for line := range strings.Lines(string(console.FindSubmatch(block)[1])) {
		if !strings.HasPrefix(line, "$ ") && !continues.MatchString(command) {
			continue // a line of output
		}
		out.WriteString(line)
		if command += strings.TrimPrefix(line, "$ "); continues.MatchString(command) {
			continue
		}
		if setsState.MatchString(command) {
			r.state += command
		} else {
			out.Write(r.output(t, command))
		}
		command = ""
	}
	out.WriteString("```\n")
	return out.Bytes()
}

func (r *run) output(t *testing.T, command string) []byte {
	t.Helper()
	r.commands++
	cmd := exec.Command("bash", "-c", r.instead.Replace(r.state+command))
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+r.bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "LC_ALL=C")
	printed, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return printed
}

// Skip skips a test on systems whose tools differ from those in READMEs, or if tools are missing.
func Skip(t *testing.T, tools ...string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("other systems have other wc, dd and seq")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
}
