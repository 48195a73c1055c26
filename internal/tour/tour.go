// Package tour runs the commands of a README in a test, and compares what they print.
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

// script is a block of the README that is a file, which its first line names.
var script = regexp.MustCompile("(?ms)^```sh\n# ([a-z.]+)\n(.*?)^```$")

// console is a block of the README with commands, each behind "$ ", and what they print.
var console = regexp.MustCompile("(?s)```console\n(.*?)```\n")

// took is what differs from run to run.
var took = regexp.MustCompile(`in [0-9.]+(ns|µs|ms)`)

// continues matches a command that goes on in the next line.
var continues = regexp.MustCompile(`(\\|&&)\n$`)

// setsState matches a command of the shell that is for those after it too.
var setsState = regexp.MustCompile(`^(set |export |[a-z]+=)`)

// Check runs the commands of a README, one after the other in one directory, and compares what they print.
// Of the programs in PATH, those in the directory bin come first. instead has texts of commands, each with
// what takes its place when they are run. With -update, the README is rewritten.
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
	state    string // the commands that are for all after them too
	commands int
}

// console returns the block with what its commands print now.
func (r *run) console(t *testing.T, block []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("```console\n")
	command := ""
	for line := range strings.Lines(string(console.FindSubmatch(block)[1])) {
		if !strings.HasPrefix(line, "$ ") && !continues.MatchString(command) {
			continue // of what was printed
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

// output runs a command, and returns what it prints.
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

// Link gives the program that runs the test another name, in the directory bin: TestMain goes by it.
func Link(t *testing.T, bin, name string) {
	t.Helper()
	self, err := os.Executable()
	errtest.NoError(t, err)
	if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
		t.Skip(err)
	}
}

// Skip skips a test where READMEs have other tools than here, or where these are missing.
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
