package tabletest

import (
	"os/exec"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/errtest"
)

// Kill starts a process, and kills it some time after it has printed "ready". A process that ends by itself fails
// the test.
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
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the process ended by itself: %v", err)
	}
}
