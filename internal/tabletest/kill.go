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
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, len("ready"))
	if _, err := out.Read(ready); err != nil || string(ready) != "ready" {
		t.Fatalf("the process says %q, %v", ready, err)
	}
	time.Sleep(after)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the process ended by itself: %v", err)
	}
}
