package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// peakFile is where measured writes to.
const peakFile = "SIEVE_TEST_PEAK"

func init() { programs["sieve-measured"] = measured }

// measured is runSieve, and says how much memory the process had at most. What the system says when it has ended is at
// least what the test had that started it.
func measured() {
	status := Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	text, err := os.ReadFile("/proc/self/status")
	if err == nil {
		err = os.WriteFile(os.Getenv(peakFile), text, 0o666)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(status)
}

// peak runs sieve as a process of its own, and returns how much memory it had at most.
func peak(t *testing.T, args ...string) (bytes int64, status int, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bin, report := filepath.Join(dir, "sieve-measured"), filepath.Join(dir, "peak") // TestMain goes by the name
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd := exec.Command(bin, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), peakFile+"="+report), &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(after, &bytes); err != nil {
		t.Fatal(err)
	}
	return bytes << 10, cmd.ProcessState.ExitCode(), errs.String()
}
