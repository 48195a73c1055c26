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

// peakFile is the environment variable that names the file for Measured.
const peakFile = "SIEVETABLE_TEST_PEAK"

// Measured runs a program, records the peak memory of the process, and exits. The peak in the resource usage of a
// process that has ended would include the memory of the test that started it.
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

// Peak runs the test binary under a name that makes it call Measured, and returns its peak memory.
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
