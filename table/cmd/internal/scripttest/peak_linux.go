package scripttest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

// peakFile is the environment variable with the file that Measured writes to.
const peakFile = "SIEVETABLE_TEST_PEAK"

// Measured runs a program, says how much memory the process had at most, and exits. What the system says when it has
// ended is at least what the test had that started it.
func Measured(run func() (status int)) {
	status := run()
	text, err := os.ReadFile("/proc/self/status")
	if err == nil {
		err = os.WriteFile(os.Getenv(peakFile), text, 0o666)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(status)
}

// Peak runs the test's own program by the name that has it call Measured, and returns how much memory it had at most.
func Peak(t *testing.T, name string, stdin io.Reader, args ...string) (bytes int64, status int, stderr string) {
	t.Helper()
	bin := Link(t, name)
	report := bin + ".peak"
	var errs strings.Builder
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), peakFile+"="+report)
	cmd.Stdin, cmd.Stderr = stdin, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(report)
	errtest.NoError(t, err)
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	_, err = fmt.Sscan(after, &bytes)
	errtest.NoError(t, err)
	return bytes << 10, cmd.ProcessState.ExitCode(), errs.String()
}
