//go:build unix

package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// process is the command as a process of its own, with its files in two directories.
type process struct {
	*exec.Cmd
	stderr  bytes.Buffer
	out     string // where it writes
	sorting string // where it sorts
}

// hang is how long a test waits for something that takes no time. It is far longer than any stall.
const hang = 5 * time.Minute

// patient runs sst so that it ends by itself after an interrupt, however slow it is.
func patient() {
	cli.InterruptGrace = hang
	runSST()
}

func init() { programs["sst-patient"] = patient }

// command returns a process of the test binary that runs patient: see TestMain.
func command(t *testing.T) *process {
	t.Helper()
	return commandAs(t, "sst-patient")
}

// commandAs returns a process of the test binary that runs one of the programs.
func commandAs(t *testing.T, program string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(scripttest.Link(t, program)), out: t.TempDir(), sorting: t.TempDir()}
	p.Stderr = &p.stderr
	p.Env = append(os.Environ(), "TMPDIR="+p.sorting)
	return p
}

// path returns the path of a file that the process writes.
func (p *process) path(name string) string { return filepath.Join(p.out, name) }

// start starts the process, and returns when it has written a temporary file, or its output.
func (p *process) start(t *testing.T) {
	t.Helper()
	noError(t, p.Start())
	for deadline := time.Now().Add(hang); ; time.Sleep(time.Millisecond) {
		files, err := filepath.Glob(p.path("*"))
		noError(t, err)
		if len(files) > 0 {
			return
		}
		if time.Now().After(deadline) {
			p.Process.Kill()
			t.Fatalf("no temporary file: %v, %s", p.Wait(), &p.stderr)
		}
	}
}

// checkEnd checks the process's exit status and message, and that it left no files.
func (p *process) checkEnd(t *testing.T, status int, said string) {
	t.Helper()
	p.checkEnded(t, p.Wait(), status, said)
}

// checkEnded is like checkEnd, for a process that has ended with err.
func (p *process) checkEnded(t *testing.T, err error, status int, said string) {
	t.Helper()
	if !errors.As(err, new(*exec.ExitError)) || p.ProcessState.ExitCode() != status || p.stderr.String() != said {
		t.Errorf("%v, %q; want status %d, %q", err, &p.stderr, status, said)
	}
	for _, dir := range []string{p.out, p.sorting} {
		files, err := os.ReadDir(dir)
		if err != nil || len(files) > 0 {
			t.Errorf("%v, %v are left in %s", files, err, dir)
		}
	}
}
