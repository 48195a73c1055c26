package filtertest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
)

// inLittleMemory is set in processes that InLittleMemory has started.
const inLittleMemory = "SIEVETABLE_LITTLE_MEMORY"

// InLittleMemory reports whether the test runs in a separate process with 3 GiB of address space. If not, it runs
// the test in such a process, and the caller must return. If Go's runtime runs out of memory there, the test fails.
func InLittleMemory(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inLittleMemory) != "" {
		return true
	}
	long.NoRace(t)
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("for an address space that has a limit: Linux, not emulated")
	}
	exe, err := os.Executable()
	errtest.NoError(t, err)
	cmd := exec.Command("sh", "-c", `ulimit -v 3145728 && exec "$@"`, "sh", exe, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inLittleMemory+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Error(err, fmt.Sprintf("%.600s", out))
	}
	return false
}

// AllocatedBy returns how many bytes the process allocates while do runs. Tests that call it are not parallel.
func AllocatedBy(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// HeapInUse returns how many bytes of the heap are in use. Tests that call it are not parallel.
func HeapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // frees memory that the first one has queued for cleanup
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
