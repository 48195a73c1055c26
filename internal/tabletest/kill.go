package tabletest

import (
	"os/exec"
	"testing"
	"time"
)

// Kill starts a process, and kills it some time after it has printed "ready". A process that ends by itself fails
// the test.
func Kill(t *testing.T, cmd *exec.Cmd, after time.Duration) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	NoError(t, err)
	NoError(t, cmd.Start())
	ready := make([]byte, len("ready"))
	if _, err := out.Read(ready); err != nil || string(ready) != "ready" {
		t.Fatalf("the process says %q, %v", ready, err)
	}
	time.Sleep(after)
	NoError(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the process ended by itself: %v", err)
	}
}
