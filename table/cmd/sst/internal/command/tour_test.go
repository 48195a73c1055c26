package command

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

	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
)

// readmes have commands.
var readmes = []string{"../../README.md", "../../../../set/README.md"}

// script is a block of the README that is a file, which its first line names.
var script = regexp.MustCompile("(?ms)^```sh\n# ([a-z.]+)\n(.*?)^```$")

// console is a block of the README with commands, each behind "$ ", and what they print.
var console = regexp.MustCompile("(?s)```console\n(.*?)```\n")

// took is what differs from run to run.
var took = regexp.MustCompile(`in [0-9.]+(ns|µs|ms)`)

// continues matches a command that goes on in the next line.
var continues = regexp.MustCompile(`(\\|&&)\n$`)

// The commands of a README print what it says, one after the other in one directory.
func TestTour(t *testing.T) {
	long.Test(t)
	if runtime.GOOS != "linux" {
		t.Skip("other systems have other wc, dd and seq")
	}
	for _, tool := range []string{"bash", "parallel"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "sst")); err != nil { // TestMain goes by the name
		t.Skip(err)
	}
	for _, readme := range readmes {
		checkReadme(t, bin, readme)
	}
}

func checkReadme(t *testing.T, bin, readme string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	dir, n := t.TempDir(), 0
	for _, file := range script.FindAllSubmatch(text, -1) {
		if err := os.WriteFile(filepath.Join(dir, string(file[1])), file[2], 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := console.ReplaceAllFunc(text, func(block []byte) []byte {
		n++
		return runConsole(t, bin, dir, block)
	})
	if n == 0 {
		t.Fatalf("no console blocks in %s", readme)
	}
	if diff := cmp.Diff(took.ReplaceAllString(string(text), "in …"), took.ReplaceAllString(string(got), "in …")); diff != "" {
		if *golden.Update {
			err = os.WriteFile(readme, got, 0o666)
		}
		t.Errorf("%s (-README +printed), %v:\n%s", readme, err, diff)
	}
}

// runConsole returns the block with what its commands print now.
func runConsole(t *testing.T, bin, dir string, block []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("```console\n")
	var command, state string // state has the set commands, which are for those after them too
	for line := range strings.Lines(string(console.FindSubmatch(block)[1])) {
		if !strings.HasPrefix(line, "$ ") && !continues.MatchString(command) {
			continue // of what was printed
		}
		out.WriteString(line)
		if command += strings.TrimPrefix(line, "$ "); continues.MatchString(command) {
			continue
		}
		if strings.HasPrefix(command, "set ") {
			state, command = state+command, ""
			continue
		}
		cmd := exec.Command("bash", "-c", state+command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "LC_ALL=C")
		printed, err := cmd.CombinedOutput()
		if _, exited := err.(*exec.ExitError); err != nil && !exited {
			t.Fatal(err)
		}
		out.Write(printed)
		command = ""
	}
	out.WriteString("```\n")
	return out.Bytes()
}
