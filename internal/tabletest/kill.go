package tabletest

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/errtest"
)

// Self returns a command that runs the test's own program, with one more environment variable.
func Self(t *testing.T, variable string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), variable)
	return cmd
}

// Kill starts a process, and kills it some time after it prints "ready". If the process exits by itself, the test
// fails.
func Kill(t *testing.T, cmd *exec.Cmd, after time.Duration) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	errtest.NoError(t, err)
	errtest.NoError(t, cmd.Start())
	ready := make([]byte, len("ready"))
	if _, err := out.Read(ready); err != nil || string(ready) != "ready" {
		t.Fatalf("the process says %q, %v", ready, err)
	}
	time.Sleep(after)
	errtest.NoError(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() && runtime.GOOS != "windows" {
		t.Fatalf("the process ended by itself: %v", err)
	}
}
