package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

var noError = errtest.NoError

// programs are the programs that the test binary runs as under other names.
var programs = map[string]func(){"sieve": runSieve}

// runSieve is the main function of sieve.
func runSieve() { os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func TestMain(m *testing.M) { testscript.Main(cleanUp{m}, programs) }

// The scripts under testdata/script run sieve and sst as users do. In addition to testscript's own commands, they
// have
//
//	damage FILE OFFSET       changes the byte there, from the end if negative
//	truncate FILE SIZE       leaves that many bytes
//	status N COMMAND [ARG…]  is exec of a command that exits with N
//
// and the conditions [long], if long tests are enabled, and [race], if the race detector is on.
func TestScripts(t *testing.T) {
	scripttest.OnUnix(t)
	path := filepath.Dir(sstProgram(t))
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *golden.Update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", e.Getenv("PATH")+string(filepath.ListSeparator)+path)
			return nil
		},
		Condition: scripttest.Condition,
		Cmds:      scripttest.Commands,
	})
}

// sieve runs the command, and returns its exit status and what it printed.
func sieve(args ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = Run(args, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

func mustSieve(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := sieve(args...)
	if status != 0 {
		t.Fatalf("sieve %v: status %d\n%s%s", args, status, stdout, stderr)
	}
	return stdout
}

func writeInput(t *testing.T, path string, lines []string) {
	t.Helper()
	noError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666))
}

// built is the directory that buildSST builds in. It is removed after all tests.
var built string

// buildSST builds sst once for all tests.
var buildSST = sync.OnceValues(func() (path string, err error) {
	dir, err := os.MkdirTemp("", "sieve-test-")
	if err != nil {
		return "", err
	}
	built, path = dir, filepath.Join(dir, "sst")
	out, err := exec.Command("go", "build", "-o", path, "../../../sst").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

// sstProgram returns the path of sst.
func sstProgram(t *testing.T) string {
	t.Helper()
	path, err := buildSST()
	noError(t, err)
	return path
}

// mustSST runs sst, and returns what it prints.
func mustSST(t *testing.T, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.Command(sstProgram(t), args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("sst %v: %v\n%s%s", args, err, out, &stderr)
	}
	return string(out)
}

// Messages begin with the name of the program.
func TestProgram(t *testing.T) {
	if text.Program != "sieve" {
		t.Errorf("the program is %s", text.Program)
	}
	if status, _, stderr := sieve("paln"); status != 2 || !strings.HasPrefix(stderr, `sieve: unknown command "paln": did you mean sieve plan?`) {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// cleanUp removes the directory built after all tests.
type cleanUp struct{ *testing.M }

func (c cleanUp) Run() int {
	status := c.M.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	return status
}
